import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import type { ServerRow } from '../../cli/sandbox-servers.ts';
import { flag } from '../../contract/field.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import { SERVER_ROW, serverVariables } from './server.ts';
import { failureOf, STATUS_COLUMNS, statusPairs } from './state.ts';

function serverWords(server: ServerRow | undefined): string {
  return server === undefined
    ? 'none; start one with: cardwright sandbox start'
    : `${server.url}, process ${server.pid}`;
}

/** Shows what the sandbox holds; a ledger that does not add up or a timer that failed is exit 15. */
export const sandboxStatus = command({
  path: 'sandbox status',
  summary: 'Show what the sandbox holds and whether its ledger balances',
  answers: {
    one: {
      ...ADMIN_OPERATIONS.status.returns.shape,
      server: orNull(tells.object(SERVER_ROW, 'The one that serves other programs, if any.')),
    },
  },
  operation: 'status',
  ends: { check_failed: 'The ledger does not add up, or a timer failed.' },
  about: [
    'Up to 10,000 transactions and events the ledger is checked every time. Above that it shows the result of the last check, by --check, a reset or a restore. --check checks files and ledger, whatever their size.',
    '-o env prints the address and the key file of the started sandbox as CARDWRIGHT_BASE_URL and CARDWRIGHT_API_KEY_FILE. If no sandbox is started, that is exit 12.',
  ],
  flags: { check: option(flag({ doc: 'Check files and ledger first, whatever their size.', basis: OURS })) },
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
    const elsewhere = await ctx.sandboxElsewhere();
    return { status, elsewhere, server: elsewhere === undefined ? await ctx.servers.running() : undefined };
  },
  show: ({ status, server, elsewhere }) => ({
    data: { ...status, server: server ?? null },
    noun: 'sandbox',
    idField: 'store',
    columns: STATUS_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: [...statusPairs(status), ['Server', elsewhere?.origin ?? serverWords(server)]] }],
    variables: () => {
      if (server !== undefined) return serverVariables(server);
      throw new CliError('unreachable', {
        message: elsewhere
          ? `${elsewhere.namedBy} names a sandbox elsewhere, whose key stands in no file known here`
          : 'no sandbox is started for this store',
        hint: 'cardwright sandbox start',
        outcome: 'not_sent',
      });
    },
    failure: failureOf(status),
  }),
});
