/** A plan as the database takes it, and what its verdicts are called. */

import type { WriteName } from '../contract/calls.ts';
import { CALLS } from '../contract/raw.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, dollars } from '../core/money.ts';
import { freeIn } from '../journal/runs/take-up.ts';
import type { Claim } from '../journal/store/op-store.ts';
import { pendingByAccount } from '../journal/store/refusals.ts';
import { decodeWhole } from '../journal/wal/codec.ts';
import type { PlanRecord } from '../journal/wal/records.ts';
import type { ClaimResult, Facts, OverCap, Standing, WantedOp } from './calls.ts';
import { leaseMsFor } from './lease.ts';
import { keyNotListed } from './refusals.ts';
import type { SharedOps } from './shared-ops.ts';
import type { Standing as RowStandings } from './standing.ts';

/** The claim of a plan whose first lines were read. */
export function wantedOf(
  shared: SharedOps,
  { record, intents, spending, judged, again }: Claim,
  standing: RowStandings,
): Omit<WantedOp, 'nonce'> {
  const { op, command, digest, bulk, rows, total_cents, key_print, given_key } = record;
  const { irreversible, rows: judgedRows } = judged();
  const { largest, total, cards, bins, untold } = spending();
  return {
    account: shared.account,
    op,
    by: standing.writer() ?? '',
    host: shared.host,
    ttl_ms: leaseMsFor(shared),
    key_print,
    command,
    digest,
    bulk,
    ...operationFacts(record),
    ...(again === true && { again }),
    rows,
    cents: total_cents,
    spending: { largest, total, cards, bins: [...bins], ...(untold && { untold }) },
    irreversible,
    judged_rows: judgedRows,
    counts: standing.counts(),
    shown: standing.shown(),
    ...(intents !== undefined && { intents }),
    ...(given_key !== undefined && { key: { value: given_key, digest } }),
  };
}

/** The plan of an op by its first line. */
export function planIn(line: string | undefined): PlanRecord | undefined {
  const [record] = line === undefined ? [] : decodeWhole(Buffer.from(`${line}\n`));
  return record?.t === 'PLAN' ? record : undefined;
}

/** What tells twins apart. */
export function operationFacts({ capability }: Pick<PlanRecord, 'capability'>): Pick<WantedOp, 'moves' | 'freely'> {
  const operations = Object.keys(capability) as WriteName[];
  return {
    moves: operations.some(operation => operation === 'cards.fund' || operation === 'cards.withdraw'),
    freely: operations.length > 0 && operations.every(operation => CALLS[operation].repeat === 'freely'),
  };
}

/** Members of an audit line: names and amounts, nothing that a log must not hold. */
export function factsOf({ op, command, profile, mode, origin, rows, total_cents }: PlanRecord, event: string): Facts {
  return { event, profile, mode, origin, operation: command, op, rows, cents: total_cents };
}

type No = Exclude<ClaimResult, { readonly verdict: 'claimed' | 'changed' }>;

export function refusalOf(
  no: No,
  { account, key_print, role }: Pick<WantedOp, 'account' | 'key_print'> & Pick<SharedOps, 'role'>,
): CliError {
  const refused = (message: string, more: Partial<CliError['facts']> = {}) =>
    new CliError('guarded', { message, hint: 'cardwright ops list', outcome: 'not_sent', ...more });
  switch (no.verdict) {
    case 'key':
      return keyNotListed({ account, key_print });
    case 'conflict': {
      const what =
        no.intent === undefined
          ? `the idempotency key ${JSON.stringify(no.key)}`
          : `the intent ${JSON.stringify(no.intent)}`;
      const { message, ...facts } = refused(
        `${what} was used before with other values: ${no.op}; nothing was sent`,
      ).facts;
      return new CliError('usage', { ...facts, message, op: no.op, hint: `cardwright ops show ${no.op}` });
    }
    case 'earlier': {
      const standing = no.standing ?? no.intents?.find(each => each.standing !== null)?.standing;
      const what =
        no.intents === undefined ? 'the idempotency key' : `the intent ${JSON.stringify(no.intents[0]?.intent)}`;
      const refusal = inTheWay(`another command was quicker with ${what}`, role, standing);
      const notes = ['Run the same command again when that one has ended. Another name would be another purchase.'];
      return refusal.facts.notes === undefined ? refusal.with({ notes }) : refusal;
    }
    case 'twin':
      return inTheWay('the same operation is there already', role, no.standing);
    case 'repeated':
      return refused(
        `a run with the same input was finished less than 24 hours ago by ${no.holder} on ${no.host}: ${no.op}`,
        {
          op: no.op,
          hint: `cardwright ops show ${no.op}`,
        },
      );
    case 'cap':
      return overCap(no);
    case 'pending':
      return pendingByAccount(no.rule);
  }
}

function inTheWay(what: string, role: string, standing: Standing | null | undefined): CliError {
  const { op, holder, host, lease_ms = 0 } = standing ?? {};
  const lease = lease_ms > 0 ? `; ${freeIn(lease_ms)}` : '';
  const who = holder === undefined ? '' : `, by ${holder} on ${host}`;
  const takeUp = holder === role ? `resume ${op}` : `takeover ${op} --reason "why"`;
  const over = standing?.state === 'finished';
  const next = over || lease_ms > 0 ? `show ${op}` : takeUp;
  return new CliError('guarded', {
    message: `${what}${who}${op === undefined ? '' : `: ${op}`}${lease}; nothing was sent`,
    ...(over && { notes: ['Run the same command again: it tells what that one has done.'] }),
    ...(!over && lease_ms > 0 && { notes: [laterNote(takeUp)] }),
    hint: op === undefined ? 'cardwright ops list' : `cardwright ops ${next}`,
    outcome: 'not_sent',
    ...(op !== undefined && { op }),
  });
}

/** `takeUp`: the words behind `cardwright ops`. */
export function laterNote(takeUp: string): string {
  return `When that process has stopped and its lease is over: cardwright ops ${takeUp}`;
}

const CAPS = {
  max_per_call: 'for one operation',
  max_per_run: 'for one run',
  max_per_day: 'for a day',
  max_cards: 'cards in one run',
  bins: 'BINs',
} as const;

export function overCap({ cap, limit, used, asked, untold }: OverCap): CliError {
  const amount = (value: unknown) =>
    typeof value === 'number' && cap !== 'max_cards' ? dollars(cents(value) as Cents) : String(value);
  const standing =
    untold === true
      ? 'what the request moves is not known'
      : [...(used === undefined || used === 0 ? [] : [`${amount(used)} used`]), `${amount(asked)} asked`].join(', ');
  const most = Array.isArray(limit) ? limit.join(', ') : amount(limit);
  return new CliError('guarded', {
    reason: cap,
    message: `the cap ${cap} of the shared journal is ${most} ${CAPS[cap]}; ${standing}. Nothing was sent`,
    hint: 'cardwright journal status',
    outcome: 'not_sent',
  });
}
