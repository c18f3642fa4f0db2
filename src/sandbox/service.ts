/** What a server of the sandbox is made of, and what every transaction of it shares. */
import type { Operation } from '../contract/operation.ts';
import type { Clock, Randomness } from '../host.ts';
import type { Secret } from '../secret.ts';
import { chanceOf } from './chance.ts';
import { sandboxNow } from './clock.ts';
import type { AdminHandlers, Call, Handlers } from './handler.ts';
import { recordEvent } from './outbox.ts';
import type { Sql, Store } from './store/sql.ts';
import { fireDue, type TimerActions } from './timers.ts';

/** The one account of a sandbox. */
export const ACCOUNT = 'acct_sandbox';

export interface ServiceParts {
  readonly store: Store;
  readonly account: string;
  readonly handlers: Handlers;
  readonly adminHandlers: AdminHandlers;
  readonly timerActions: TimerActions;
  readonly key: Secret;
  readonly adminToken: Secret;
  /** Real time; the clock of the sandbox is a row of the store. */
  readonly clock: Clock;
  readonly random: Randomness;
  /** Name of this process in leases, see owner.ts. */
  readonly owner: string;
  readonly isGone: (owner: string) => boolean;
  readonly rateLimits: boolean;
  readonly version: string;
  /** Told about every error nobody expected; the caller of the service sees a 500 without details. */
  readonly onFault: (error: unknown) => void;
}

/** What a call needs beside its input, for one transaction. */
export async function surroundings(parts: ServiceParts, sql: Sql, key?: string) {
  const { account, clock } = parts;
  const now = await sandboxNow(sql, account, clock.now());
  const chance = chanceOf({ sql, account, key });
  const emit: Call<Operation>['emit'] = (event, data) => recordEvent({ sql, account, now, chance }, event, data);
  return { sql, account, now, chance, emit };
}

/** Runs the timers that are due on the clock of the sandbox now, earliest first. */
export async function catchUp(parts: ServiceParts): Promise<void> {
  const { store, account, clock, timerActions: actions } = parts;
  const upTo = await store.read(sql => sandboxNow(sql, account, clock.now()));
  await fireDue(store, {
    account,
    upTo,
    actions,
    surroundings: (sql, { dueAt }) => {
      const chance = chanceOf({ sql, account });
      return { chance, emit: (event, data) => recordEvent({ sql, account, now: dueAt, chance }, event, data) };
    },
  });
}
