/** How snapshots are shown, and what is said when one was put back, or was not. */
import { columnsOf } from '../../../cli/columns.ts';
import type { Restored } from '../../../cli/context.ts';
import { argument, OURS } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import type { Shown } from '../../../cli/shown.ts';
import { text } from '../../../contract/field.ts';
import { SNAPSHOT, SNAPSHOT_NAME } from '../../../contract/sandbox/snapshots.ts';
import { CliError } from '../../../core/errors.ts';
import type { Column } from '../../../terminal/view.ts';
import { money } from '../../cards/columns.ts';

/** Throws `usage` for a name no snapshot has. */
export function checkedName(name: string): string {
  if (SNAPSHOT_NAME.test(name)) return name;
  throw usage(
    `${JSON.stringify(name)} is no name of a snapshot: lower-case letters, digits, - and _, at most 64 of them`,
  );
}

export const snapshotName = argument(
  text({ doc: 'Name: lower-case letters, digits, - and _.', basis: OURS, maxLength: 64 }),
);

export const SNAPSHOT_COLUMNS = columnsOf(SNAPSHOT, {
  name: { priority: 1, kind: 'id' },
  made_at: { title: 'MADE', priority: 2 },
  data_set: { title: 'DATA', priority: 3 },
  cards: { priority: 3 },
  transactions: { priority: 3 },
  bytes: { priority: 4 },
  clock: { priority: 4 },
  seed: { priority: 5, wideOnly: true },
  whole: { title: 'COMPLETE', priority: 2 },
});

const COLUMNS: readonly Column[] = [
  { field: 'restored', title: 'RESTORED', kind: 'boolean', priority: 1 },
  { field: 'made_at', title: 'MADE', kind: 'time', priority: 2 },
  { field: 'cards', title: 'CARDS', kind: 'integer', priority: 2 },
  { field: 'transactions', title: 'TRANSACTIONS', kind: 'integer', priority: 2 },
  { field: 'webhooks_active', title: 'WEBHOOKS', kind: 'integer', priority: 2 },
  { field: 'wallet_balance', title: 'WALLET', kind: 'money', priority: 1 },
  { field: 'ledger_ok', title: 'LEDGER', kind: 'boolean', priority: 1 },
];

/** `what` names where it came from: `snapshot before`, `backup.ndjson`. */
export function showRestored(what: string, done: Restored): Shown {
  return {
    noun: 'sandbox',
    idField: 'made_at',
    columns: COLUMNS,
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Restored', what],
          ['Made', done.made_at ?? '-'],
          ['Clock', done.now ?? '-'],
          ['Cards', String(done.cards ?? '-')],
          ['Transactions', String(done.transactions ?? '-')],
          ...webhooksIn(done),
          ['Wallet', money(done.wallet_balance)],
          ['Ledger', done.ledger_ok ? 'whole' : 'broken'],
        ],
      },
    ],
    failure: brokenLedger(done),
  };
}

/** Where deliveries go is as important as what came back, and easily missed. */
function webhooksIn({ webhooks_active: active = 0 }: Restored): readonly (readonly [string, string])[] {
  if (active === 0) return [];
  const are =
    active === 1
      ? '1 subscription is active: its address gets'
      : `${active} subscriptions are active: their addresses get`;
  return [['Webhooks', `${are} what this sandbox delivers`]];
}

/** Throws `check_failed` when nothing was put back. */
export function refuseDamaged(what: string, done: Restored, hint?: string): Restored {
  if (done.restored) return done;
  throw new CliError('check_failed', {
    message: `${what} cannot be put back: ${done.problems.join('; ')}. Nothing was changed.`,
    ...(hint !== undefined && { hint }),
    outcome: 'refused',
  });
}

function brokenLedger({ ledger_ok, ledger_faults }: Restored): CliError | undefined {
  if (ledger_ok !== false) return undefined;
  return new CliError('check_failed', {
    message: `restored, but its ledger does not add up: ${(ledger_faults ?? []).join('; ')}`,
    hint: 'cardwright sandbox reset',
    outcome: 'done',
  });
}
