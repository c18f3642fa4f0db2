/** A sandbox below HTTP: handlers and timers on a memory store, a clock that is set, events that are kept. */
import type { OperationName, Operations } from '../../src/contract/calls.ts';
import type { EventName } from '../../src/contract/events.ts';
import type { ReplyOf } from '../../src/contract/operation.ts';
import type { AdminName, AdminOperations } from '../../src/contract/sandbox/admin.ts';
import type { Cents } from '../../src/core/money.ts';
import type { Clock, Randomness } from '../../src/platform/host.ts';
import { TIMER_ACTIONS } from '../../src/sandbox/account/challenges.ts';
import type { Act } from '../../src/sandbox/account/ledger.ts';
import { ADMIN_HANDLERS } from '../../src/sandbox/admin/table.ts';
import { deterministicIds } from '../../src/sandbox/calls/deterministic-ids.ts';
import { type Call, Encoded } from '../../src/sandbox/calls/handler.ts';
import { checkLedger } from '../../src/sandbox/checks/ledger-check.ts';
import { fireDue, type Timer } from '../../src/sandbox/clock/timers.ts';
import { loadDataSet } from '../../src/sandbox/data/load.ts';
import { HANDLERS } from '../../src/sandbox/handlers/table.ts';
import { openStore } from '../../src/sandbox/store/open.ts';
import type { Sql, Store } from '../../src/sandbox/store/sql.ts';

export const START = Date.parse('2026-11-20T14:00:00Z');
export const DAY = 86_400_000;

export interface Told {
  readonly event: EventName;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WorldWishes {
  readonly data?: 'empty' | 'demo';
  readonly wallet?: Cents;
  readonly seed?: number;
  readonly ids?: 'counted' | 'derived';
  readonly now?: number;
}

type InputOf<T, N extends keyof T> = T[N] extends AdminOperations[AdminName] | Operations[OperationName]
  ? Call<T[N]>['input']
  : never;

export class DomainWorld {
  readonly store: Store;
  now: number;
  readonly told: Told[] = [];

  private constructor(store: Store, now: number) {
    this.store = store;
    this.now = now;
  }

  static async open({ data = 'empty', wallet, seed = 1, ids = 'counted', now = START }: WorldWishes = {}) {
    const clock: Clock = { now: () => now, monotonic: () => 0, sleep: async () => undefined };
    const random: Randomness = { bytes: count => new Uint8Array(count), fraction: () => 0.5 };
    const fill = (sql: Sql) =>
      loadDataSet(sql, {
        name: data,
        now,
        idSource: deterministicIds({ sql }),
        ...(wallet !== undefined && { wallet }),
      });
    const request = { path: 'memory', seed, ids, fill, clock, random, platform: 'linux' } as const;
    const { store } = await openStore(request);
    return new DomainWorld(store, now);
  }

  /** Runs one change in its transaction; what it told is kept only when it was not undone. */
  async change<T>(work: (act: Act) => Promise<T>): Promise<T> {
    const told: Told[] = [];
    const result = await this.store.write(sql =>
      work({
        sql,
        now: this.now,
        idSource: deterministicIds({ sql }),
        emit: async (event, data) => void told.push({ event, data }),
      }),
    );
    this.told.push(...told);
    return result;
  }

  call<N extends OperationName>(name: N, input: InputOf<Operations, N>): Promise<ReplyOf<Operations[N]>> {
    const handler = HANDLERS[name] as unknown as (call: unknown) => Promise<ReplyOf<Operations[N]>>;
    return this.change(async act => decoded(await handler({ ...act, input })));
  }

  admin<N extends keyof typeof ADMIN_HANDLERS>(
    name: N,
    input: InputOf<AdminOperations, N>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const handler = ADMIN_HANDLERS[name] as unknown as (call: unknown) => Promise<Readonly<Record<string, unknown>>>;
    return this.change(act =>
      handler({ ...act, real: this.now, isGone: () => false, startedWith: { data: 'demo' }, input }),
    );
  }

  /** Moves the clock on, firing what is due on the way. */
  async advance(ms: number): Promise<readonly Timer[]> {
    const fired = await fireDue(this.store, {
      upTo: this.now + ms,
      actions: TIMER_ACTIONS,
      callParts: sql => ({
        idSource: deterministicIds({ sql }),
        emit: async (event, data) => void this.told.push({ event, data }),
      }),
    });
    this.now += ms;
    return fired;
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.store.read(work);
  }

  /** What is broken of I1 to I10. */
  faults(): Promise<string[]> {
    return this.read(sql => checkLedger(sql));
  }

  /** Names of the events since the last call of this. */
  events(): EventName[] {
    return this.told.splice(0).map(({ event }) => event);
  }

  async bin(position = 0): Promise<string> {
    const { data } = await this.call('bins.list', {});
    return data[position]?.id ?? '';
  }
}

/** Lists hold cards as the stored text they are sent as; tests look at the objects. */
function decoded<Reply>(reply: Reply): Reply {
  if (typeof reply !== 'object' || reply === null || !('data' in reply) || !Array.isArray(reply.data)) return reply;
  return { ...reply, data: reply.data.map(row => (row instanceof Encoded ? row.toJSON() : row)) };
}
