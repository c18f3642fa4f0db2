/** An account of a test, and ops in it, with the bytes that a journal has. */
import { randomBytes } from 'node:crypto';
import { encodeLines } from '../../src/journal/wal/codec.ts';
import { newOp } from '../../src/journal/wal/op-id.ts';
import type { JournalRecord } from '../../src/journal/wal/records.ts';
import type { PostgresSession } from '../../src/postgres/client.ts';
import type { Appending, WantedOp } from '../../src/team/calls.ts';
import { type Statements, statementsOver } from '../../src/team/statements.ts';
import type { Database } from '../postgres/shared.ts';

export const KEY_PRINT = '0123456789abcdef';
const TTL_MS = 180_000;

export const hex = (bytes: number) => randomBytes(bytes).toString('hex');
export const freshOp = () => newOp({ bytes: count => randomBytes(count), fraction: () => 0 });

/** Lines of the journal, as one process writes them. */
export const linesOf = (by: string, ...records: readonly JournalRecord[]) => encodeLines(by, 0, records);
export const sent = (row: number): JournalRecord => ({ t: 'SENT', row, attempt: 1, at: 1 });
export const done = (row: number): JournalRecord => ({
  t: 'DONE',
  row,
  id: 'card_1',
  via: 'answer',
  changed: true,
  at: 2,
});

/** A claim of a single fund of so many cents; each has other changes unless `more` names a digest. */
export function wanted(account: string, cents: number, more: Partial<WantedOp> = {}): WantedOp {
  return {
    account,
    op: freshOp(),
    nonce: hex(8),
    by: hex(4),
    host: 'laptop',
    ttl_ms: TTL_MS,
    key_print: KEY_PRINT,
    command: 'cards fund',
    digest: hex(32),
    bulk: false,
    moves: true,
    freely: false,
    rows: 1,
    cents,
    spending: { largest: cents, total: cents, cards: 0, bins: [] },
    counts: { unknown: 1, open: 0 },
    ...more,
  };
}

export const FACTS = {
  event: 'write',
  profile: 'main',
  mode: 'test',
  origin: 'https://api.example.com',
  operation: 'cards.fund',
};
export const OUTCOME = { ...FACTS, event: 'outcome', outcome: 'done' };

/** The next segment of a claimed op. */
export function next({ account, op, by }: WantedOp, more: Partial<Appending> = {}): Appending {
  return { account, op, epoch: 1, n: 2, by, counts: { unknown: 0, open: 0 }, ...more };
}
/** Its end. */
export const ended = (spent: number) => ({ ending: { finished: true, spent } });

export interface TestAccount {
  readonly account: string;
  readonly root: PostgresSession;
  readonly ana: Statements;
  readonly ben: Statements;
  readonly eve: Statements;
  /** Calls an admin function as the account's admin. */
  admin(text: string): Promise<unknown>;
  /** Leases of the account are over. */
  endLeases(): Promise<void>;
}

let count = 0;

/** A new account with two operators, an admin and an auditor. */
export async function testAccount(
  here: Database,
  { origin = 'https://api.example.com', keyPrint = (_account: string): string => KEY_PRINT } = {},
): Promise<TestAccount> {
  count += 1;
  const account = `acc-${count}`;
  const [root, ada, ana, ben, eve] = await Promise.all([
    here.as('postgres'),
    here.as('ada'),
    here.as('ana'),
    here.as('ben'),
    here.as('eve'),
  ]);
  await root.call(`select cardwright.add_account($1, $2, 'test', 'ada')`, [account, origin]);
  for (const [role, may] of [
    ['ana', '{read,operate}'],
    ['ben', '{operate}'],
    ['eve', '{read}'],
  ] as const) {
    await ada.call('select cardwright.add_member($1, $2, $3)', [account, role, may]);
  }
  await ada.call('select cardwright.add_key($1, $2)', [account, keyPrint(account)]);
  return {
    account,
    root,
    ana: statementsOver(ana),
    ben: statementsOver(ben),
    eve: statementsOver(eve),
    admin: text =>
      ada.call(`select cardwright.${text.replace('(', `('${account}'${text.endsWith('()') ? '' : ', '}`)}`, []),
    endLeases: async () =>
      void (await root.call(
        `update cardwright.op o set lease_until = clock_timestamp() - interval '5 seconds'
           from cardwright.account a where a.id = o.account and a.name = $1 and o.state = 'running'`,
        [account],
      )),
  };
}
