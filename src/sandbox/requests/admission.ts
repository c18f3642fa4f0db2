/** What comes before the work of a request, in its transaction: what time it is, its name, its place under the limit. */
import { deterministicIds, requestIdOf } from '../calls/deterministic-ids.ts';
import { type ClockRow, shownTime } from '../clock/clock.ts';
import { type Allowance, countRequest, isCounted } from '../http/limits.ts';
import type { Route } from '../http/routing.ts';
import type { ServiceParts } from '../service/service.ts';
import type { IdForm } from '../store/meta.ts';
import type { Sql } from '../store/sql.ts';

export interface Admitted {
  readonly requestId: string;
  /** Where the caller stands; undefined where it is not counted. */
  readonly allowance: Allowance | undefined;
  /** Clock of the sandbox and real time, ms UTC. */
  readonly now: number;
  readonly real: number;
  readonly meta: { readonly seed: number; readonly ids: IdForm };
  /** There are fault rules to be asked. */
  readonly hasFaults: boolean;
}

/** A timer is due: it fires before the request is admitted. */
export const TIMERS_DUE = 'timers-due';

interface Arrival {
  readonly route: Route;
  /** Scope of its idempotency key; names it when there is one. */
  readonly scope: string | undefined;
  /** Its number when it was handed out before; undefined to take the next one in the store. */
  readonly number: number | undefined;
  readonly heedsTimers: boolean;
  /** It was counted and named already. */
  readonly passed: Pick<Admitted, 'requestId' | 'allowance'> | undefined;
}

/**
 * Reading requests write nothing when nothing is limited: their numbers come from a block this process took. Where
 * limits are on, each request is a row, because every command is a process of its own and all share the limit; at
 * most 600 a minute get through, so those rows cost nothing worth saving.
 */
export function isPlainRead({ rateLimits }: ServiceParts, { row }: Route): boolean {
  return rateLimits === 'none' && row.method === 'GET';
}

interface Facts extends ClockRow {
  readonly seed: number;
  readonly ids: IdForm;
  readonly due_at: number | null;
  readonly faults: number;
}

/** Everything a request needs to know about the store, in one statement. */
const FACTS = `select m.seed, m.ids, coalesce(c.mode, 'real') as mode, coalesce(c.at, 0) as at,
  coalesce(c.real_since, 0) as real_since, coalesce(c.rate_milli, 1000) as rate_milli,
  (select due_at from timers where account_id = ? order by due_at limit 1) as due_at,
  case when exists (select 1 from faults where account_id = ? and meets = 'requests'
    and (times is null or struck < times)) then 1 else 0 end as faults
  from meta m left join clock c on c.account_id = ? where m.one = 1`;

/** Nothing is written when a timer is due: that comes first. */
export async function admit(
  { account, clock, rateLimits, virtualLimits }: ServiceParts,
  sql: Sql,
  { route, scope, number, heedsTimers, passed }: Arrival,
): Promise<Admitted | typeof TIMERS_DUE> {
  const real = clock.now();
  const facts = await sql.get<Facts>(FACTS, account, account, account);
  if (facts === undefined) throw new Error('the store says nothing about itself');
  const now = shownTime(facts, real);
  if (heedsTimers && facts.due_at !== null && facts.due_at <= now) return TIMERS_DUE;
  const meta = { seed: facts.seed, ids: facts.ids };
  if (passed !== undefined) return { ...passed, now, real, meta, hasFaults: false };
  const bucket = route.row.effect === 'reveals-secret' ? 'details' : 'general';
  const isService = route.surface === 'service';
  const isLimited = (isService || bucket === 'details') && isCounted(rateLimits, bucket);
  const at = virtualLimits ? now : real;
  const allowance = isLimited ? await countRequest(sql, { account, bucket, real: at, shown: now }) : undefined;
  // One that is turned away comes again under its key, and that is another request.
  const key = allowance?.retryAfter === undefined ? scope : undefined;
  const requestId =
    number === undefined ? await deterministicIds({ sql, account, key, meta }).id('req') : requestIdOf(meta, number);
  return { requestId, allowance, now, real, meta, hasFaults: isService && facts.faults === 1 };
}
