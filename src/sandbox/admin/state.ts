/** status, reset, ledger, clock, faults, requests, accounts, dialect: what the sandbox says of itself, and what is set in it. */
import type { PagedName } from '../../contract/calls.ts';
import type { Shape } from '../../contract/field.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import { ADMIN_OPERATIONS, type AdminOperations } from '../../contract/sandbox/admin.ts';
import { FAULT, type FaultRule, isDeliveryKind } from '../../contract/sandbox/faults.ts';
import { instantOf } from '../../core/durations.ts';
import { type Cents, toUsd } from '../../core/money.ts';
import { wired } from '../account/wire.ts';
import { deterministicIds } from '../calls/deterministic-ids.ts';
import { type Call, type Fields, found, impossible, Refused } from '../calls/handler.ts';
import { checkInvariants, damagedPages, invariantResults, isLarge } from '../checks/invariants.ts';
import {
  advanceOf,
  type ClockRow,
  clockRate,
  clockShowing,
  forgetAdvance,
  isAdvanceRunning,
  parkedTimers,
  REAL_CLOCK,
  readClock,
  sandboxNow,
  setClock,
} from '../clock/clock.ts';
import { loadDataSet } from '../data/load.ts';
import { NEWEST_FIRST, type Paging, paged } from '../handlers/service.ts';
import { isoTime } from '../rules/dates.ts';
import { keptKey, keptRequests } from '../service/logs.ts';
import type { ServiceHandlers, ServiceParts, StoreHandlers } from '../service/service.ts';
import { emptyStore } from '../store/open.ts';
import { countAll, type FaultRow, type RequestRow, sendingNow, walletOf } from '../store/rows.ts';
import { escaped, nextCount, type Query, type SqlRow } from '../store/sql.ts';

/**
 * A page of a list of the control surface: rows of a query, or those at hand, each as the shape of the list has it, and so many as
 * it says where nothing is asked. `also` are members that no column has.
 */
export function pageOfList<const N extends PagedName<AdminOperations>, Row extends object = SqlRow>(
  name: N,
  asked: Pick<Call, 'sql'> & { readonly input: Paging },
  from: Query | readonly Row[],
  also: (row: Row) => object = () => ({}),
) {
  const { query, returns } = ADMIN_OPERATIONS[name];
  const wire = (row: Row) => wired(returns.shape as Shape, { ...(row as Fields), ...also(row) });
  return paged(asked, Number(query.per_page.defaults), from, wire) as unknown as ReplyOf<AdminOperations[N]>;
}

export const STATE = {
  'faults.add': ({ sql, now, idSource, input }) => {
    const rule = input as unknown as FaultRule;
    const row: FaultRow = {
      id: idSource.id('flt'),
      position: nextCount(sql, 'fault position'),
      meets: isDeliveryKind(rule.action.kind) ? 'deliveries' : 'requests',
      rule: JSON.stringify(rule),
      times: rule.times ?? null,
      seen: 0,
      struck: 0,
      expires_at: instantOf(rule.expires_at) ?? null,
      created_at: now,
    };
    sql.insert('faults', row);
    return wireFault(row, now);
  },

  'faults.remove': ({ sql, input: { fault_id: id } }) => {
    found(sql.run('delete from faults where id = ?', id) || undefined, 'fault rule', id);
    return {};
  },

  'faults.clear': ({ sql }) => ({
    removed: sql.run('delete from faults'),
  }),

  'ledger.accounts': call => pageOfList('ledger.accounts', call, { from: ACCOUNTS, order: 'account' }),

  'ledger.entries': call => {
    const { sql, input } = call;
    const wanted = {
      'exists (select 1 from postings p where p.entry_id = e.id and p.ledger = ?)': input.account,
      'ref = ?': input.ref,
    };
    const postings = 'select ledger as account, amount from postings where entry_id = ? order by ledger';
    const usd = ({ account, amount }: { account: string; amount: Cents }) => ({ account, amount: toUsd(amount) });
    return pageOfList('ledger.entries', call, { from: 'entries e', wanted, order: 'id' }, ({ id = null }) => ({
      postings: sql.all<{ account: string; amount: Cents }>(postings, id).map(usd),
    }));
  },

  faults: ({ sql, now }) => {
    const rows = sql.all<FaultRow>('select * from faults order by position');
    return { data: rows.map(row => wireFault(row, now)), page: {} };
  },

  deposits: look => {
    const { status, currency, q } = look.input;
    const part = q === undefined ? undefined : `%${escaped(q.trim())}%`;
    const wanted = { 'status = ?': status, 'currency = ?': currency, "id || ' ' || tx_hash like ? escape '!'": part };
    return pageOfList('deposits', look, { from: 'deposits', wanted, order: NEWEST_FIRST });
  },

  requests: ({ sql, parts, input }) => {
    const { operation, card_id, status, idempotency_key: key } = input;
    // As the log has it: a key that may hold a card number is masked there.
    const equal = { operation, card_id, status, idempotency_key: key === undefined ? undefined : keptKey(key) };
    const since = instantOf(input.since) ?? Number.NEGATIVE_INFINITY;
    const isWanted = (row: RequestRow) =>
      row.at >= since &&
      Object.entries(equal).every(([name, value]) => value === undefined || row[name as keyof RequestRow] === value);
    return pageOfList('requests', { sql, input }, keptRequests(sql, parts.requestLog).filter(isWanted).toReversed());
  },

  'clock.show': ({ sql, now, parts }) => {
    const shown = wireClock(readClock(sql), now);
    const move = advanceOf(sql);
    if (move === undefined || parts.isGone(move.owner)) return { ...shown, moving_to: null, awaited_deliveries: 0 };
    return { ...shown, moving_to: isoTime(move.moves_to), awaited_deliveries: sendingNow(sql).length };
  },
} satisfies Partial<StoreHandlers>;

/** What somebody found in the books, as it is told. */
const foundIn = (faults: string[]) => ({ ledger_ok: faults.length === 0, ledger_faults: faults });

const serverOf = ({ version, store }: ServiceParts) => ({ version, store: store.path });

/** Everything the store knows of itself, in numbers, but for its books. */
export function stateOf({ sql, now }: Pick<Call, 'sql' | 'now'>) {
  const { data_set, balance } = walletOf(sql);
  return {
    data_set,
    now: isoTime(now),
    ...countAll(sql),
    wallet_balance: toUsd(balance),
    timers_parked: parkedTimers(sql).map(timer => ({ ...timer, due_at: isoTime(timer.due_at) })),
  };
}

const ACCOUNTS =
  '(select ledger as account, sum(amount) as balance, count(*) as postings from postings group by ledger)';

export const OF_SERVER = {
  /** Everything the store knows. To look through the books of a large one takes its time: of those nothing is told. */
  status: parts =>
    parts.store.writeLarge(sql => {
      const looking = { sql, now: sandboxNow(sql, parts.clock.now()) };
      const books = isLarge(sql) ? { ledger_ok: null, ledger_faults: [] } : foundIn(checkInvariants(sql));
      return { ...serverOf(parts), ...stateOf(looking), ...books };
    }),

  /**
   * Replaces everything the account holds in one transaction: with the data set and the
   * wallet it was started with, where no other is named. The clock goes on as it was set; the key the server began with
   * is no part of the store.
   */
  reset: async (parts, input) => {
    const { store, startedWith, requestLog } = parts;
    const { data = startedWith.data, seed } = input;
    if (data !== 'load' && (input.cards ?? input.transactions) !== undefined) {
      throw new Refused('invalid_request', 'cards and transactions: for the data set load alone');
    }
    const state = await store.writeLarge(async sql => {
      const now = sandboxNow(sql, parts.clock.now());
      const clock = readClock(sql);
      emptyStore(sql, seed);
      if (clock.mode !== 'real') setClock(sql, clock);
      // The seed may be another one now.
      const idSource = deterministicIds({ sql });
      const size = { ...startedWith.size, ...input };
      const wallet = input.data === undefined ? startedWith.wallet : undefined;
      await loadDataSet(sql, { name: data, now, idSource, size, wallet });
      return { ...serverOf(parts), ...stateOf({ sql, now }), ...foundIn(checkInvariants(sql)) };
    });
    requestLog.forget();
    return state;
  },

  /** Backwards too. What becomes due by it happens before the next request, at its own time. */
  'clock.set': ({ store, clock, isGone }, { mode, at, rate }) => {
    if (mode === 'real' && at !== undefined) throw new Refused('invalid_request', 'at: a real clock shows real time');
    return store.write(sql => {
      if (isAdvanceRunning(sql, isGone)) throw impossible('the clock is being moved forward: wait for that to end');
      const real = clock.now();
      const shown = instantOf(at) ?? sandboxNow(sql, real);
      const kind: ClockRow = { ...REAL_CLOCK, mode, rate_milli: Math.round((rate ?? 1) * 1000) };
      const set = mode === 'real' ? REAL_CLOCK : clockShowing(kind, shown, real);
      forgetAdvance(sql);
      setClock(sql, set);
      return wireClock(set, mode === 'real' ? real : shown);
    });
  },

  'ledger.check': ({ store }) =>
    store.writeLarge(sql => {
      const damaged = damagedPages(sql);
      // Of a damaged file the books would say anything, and it is better not written to.
      if (damaged.length > 0) {
        const faults = damaged.map(line => `the file is damaged: ${line}`);
        return { ok: false, faults, invariants: invariantResults() };
      }
      const faults = checkInvariants(sql);
      return { ok: faults.length === 0, faults, invariants: invariantResults(faults) };
    }),

  'accounts.open': ({ accounts }, input) => {
    if (accounts === undefined) throw impossible('This sandbox is one account; sandbox start --accounts serves many.');
    return accounts(input);
  },

  'dialect.set': ({ activeDialect }, { dialect }) => {
    activeDialect.use(dialect);
    return activeDialect.facts;
  },

  'dialect.show': async ({ activeDialect }) => activeDialect.facts,
} satisfies Partial<ServiceHandlers>;

function wireFault(row: FaultRow, now: number) {
  const { match = {}, phase = 'before', action } = JSON.parse(row.rule) as FaultRule;
  const isActive = (row.times === null || row.struck < row.times) && (row.expires_at === null || row.expires_at > now);
  return wired(FAULT, {
    ...{ ...row, match, action },
    active: isActive,
    phase: row.meets === 'deliveries' ? null : phase,
  });
}

/** What the clock says about itself when it shows `now`. */
export function wireClock(clock: ClockRow, now: number) {
  return { mode: clock.mode, now: isoTime(now), rate: clockRate(clock) };
}
