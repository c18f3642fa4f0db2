import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/command.ts';
import { OURS, option } from '../../cli/flag.ts';
import type { ServerRow } from '../../cli/sandbox-servers.ts';
import type { AdminOperations } from '../../contract/calls.ts';
import { flag } from '../../contract/field.ts';
import type { ResultOf } from '../../contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox-admin.ts';
import { CliError } from '../../errors.ts';
import type { Column } from '../../terminal/view.ts';
import { money } from '../cards/columns.ts';
import { SERVER_ROW, serverVariables } from './server.ts';

export type SandboxStatus = ResultOf<AdminOperations['status']>;

export const STATUS_COLUMNS: readonly Column[] = [
  { field: 'store', title: 'STORE', kind: 'text', priority: 1 },
  { field: 'data_set', title: 'DATA', kind: 'word', priority: 2 },
  { field: 'now', title: 'NOW', kind: 'time', priority: 2 },
  { field: 'bins', title: 'BINS', kind: 'integer', priority: 3 },
  { field: 'cards', title: 'CARDS', kind: 'integer', priority: 2 },
  { field: 'transactions', title: 'TRANSACTIONS', kind: 'integer', priority: 2 },
  { field: 'webhooks', title: 'WEBHOOKS', kind: 'integer', priority: 3 },
  { field: 'events', title: 'EVENTS', kind: 'integer', priority: 3 },
  { field: 'wallet_balance', title: 'WALLET', kind: 'money', priority: 1 },
  { field: 'ledger_ok', title: 'LEDGER', kind: 'boolean', priority: 1 },
];

/** Label and value lines of the sandbox's state. */
export function statusPairs(status: SandboxStatus): [string, string][] {
  return [
    ['Store', status.store],
    ['Data set', status.data_set ?? '-'],
    ['Clock', status.now],
    ['BINs', String(status.bins)],
    ['Cards', String(status.cards)],
    ['Transactions', String(status.transactions)],
    ['Webhooks', String(status.webhooks)],
    ['Events', String(status.events)],
    ['Wallet', money(status.wallet_balance)],
    ['Ledger', (status.ledger_ok ? 'whole' : `broken: ${(status.ledger_faults ?? []).join('; ')}`) + seenAt(status)],
    ...parkedOf(status).map((text): [string, string] => ['Parked', text]),
  ];
}

/** Of many records the books are not looked through each time: then it is said when they were. */
function seenAt({ ledger_checked_at: at, now }: SandboxStatus): string {
  return at === undefined || at === now ? '' : `, looked through at ${at}; anew: cardwright sandbox status --check`;
}

/** Timers whose action failed; what should have happened did not, and nothing else waits for it. */
function parkedOf({ timers_parked }: SandboxStatus): readonly string[] {
  return (timers_parked ?? []).map(({ kind, ref, due_at, error }) => `${kind} of ${ref}, due ${due_at}: ${error}`);
}

function failureOf(status: SandboxStatus): CliError | undefined {
  const parked = parkedOf(status);
  if (status.ledger_ok && parked.length === 0) return undefined;
  const message = status.ledger_ok
    ? `${parked.length === 1 ? 'a timer' : `${parked.length} timers`} of the sandbox failed: ${parked.join('; ')}`
    : `the ledger does not add up: ${(status.ledger_faults ?? []).join('; ')}`;
  return new CliError('check_failed', { message, hint: 'cardwright sandbox reset' });
}

function serverWords(server: ServerRow | undefined): string {
  return server === undefined
    ? 'none; start one with: cardwright sandbox start'
    : `${server.url}, process ${server.pid}`;
}

/** Shows what the sandbox holds; a ledger that does not add up or a timer that failed is exit 15. */
export const sandboxStatus = command({
  path: 'sandbox status',
  summary: 'Show what the sandbox holds and whether its ledger is whole',
  answers: {
    one: {
      ...ADMIN_OPERATIONS.status.returns.shape,
      server: orNull(tells.object(SERVER_ROW, 'The one that serves other programs, if any.')),
    },
  },
  operation: 'status',
  ends: { check_failed: 'The ledger does not add up, or a timer failed.' },
  about: [
    'The books are looked through each time as long as there are at most 10,000 transactions and events; of more it says what was found when they last were, by --check, a start, a reset or a restore. --check looks through files and books, whatever their size.',
    'With -o env it prints the address and the key file of the sandbox that was started, CARDWRIGHT_BASE_URL and CARDWRIGHT_API_KEY_FILE; exit 12 where none is started.',
  ],
  flags: { check: option(flag({ doc: 'Look through files and books first, however large.', basis: OURS })) },
  examples: [
    { does: 'In words', run: 'sandbox status' },
    { does: 'Looked through whole', run: 'sandbox status --check' },
    { does: 'For other programs of this shell', run: 'sandbox status -o env' },
  ],
  async run(ctx, { check }) {
    const admin = await ctx.sandbox();
    const checked = check === true ? (await admin.send('ledger.check', {})).result : undefined;
    const { result: state } = await admin.send('status', {});
    const status = checked === undefined ? state : { ...state, ledger_ok: checked.ok, ledger_faults: checked.faults };
    const elsewhere = ctx.env['CARDWRIGHT_SANDBOX_URL'];
    return { status, elsewhere, server: elsewhere ? undefined : await ctx.servers.running() };
  },
  show: ({ status, server, elsewhere }) => ({
    data: { ...status, server: server ?? null },
    noun: 'sandbox',
    idField: 'store',
    columns: STATUS_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: [...statusPairs(status), ['Server', elsewhere || serverWords(server)]] }],
    variables: () => {
      if (server !== undefined) return serverVariables(server);
      throw new CliError('unreachable', {
        message: elsewhere
          ? 'the environment names a sandbox elsewhere (CARDWRIGHT_SANDBOX_URL), whose key stands in no file known here'
          : 'no sandbox is started on this store',
        hint: 'cardwright sandbox start',
        outcome: 'not_sent',
      });
    },
    failure: failureOf(status),
  }),
});
