import { maybe } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { usage } from '../../cli/parsing/values.ts';
import { SERVER_COLUMNS, SERVER_ROW, UNSET_SERVER } from './server.ts';

/** Ends the sandbox that was started; what it holds stays. */
export const stopSandbox = command({
  path: 'sandbox stop',
  summary: 'Stop the started sandbox after its running requests',
  effect: 'reversible',
  reach: 'service',
  ends: {
    wait_expired: 'It is still there after 20 s.',
    unreachable: 'None is started.',
  },
  answers: {
    one: {
      ...SERVER_ROW,
      started_at: maybe(SERVER_ROW.started_at),
      store: maybe(SERVER_ROW.store),
      api_key_file: maybe(SERVER_ROW.api_key_file),
    },
  },
  about: [
    'Stops the sandbox that serves the store of --sandbox, or the one elsewhere that CARDWRIGHT_SANDBOX_URL or the profile names. A server of many accounts cannot be ended from an account. Store and key stay. A shell that has its address in the environment keeps it: unset CARDWRIGHT_BASE_URL CARDWRIGHT_API_KEY_FILE. If no sandbox is started, that is exit 12.',
  ],
  examples: [
    { does: 'End it', run: 'sandbox stop' },
    { does: 'As data', run: 'sandbox stop --json' },
  ],
  async run(ctx) {
    if (ctx.dryRun) throw usage('sandbox stop sends nothing to the service; it has no dry run');
    const elsewhere = await ctx.sandboxElsewhere();
    if (elsewhere === undefined) {
      const stopped = await ctx.servers.stop();
      if (ctx.env['CARDWRIGHT_BASE_URL'] === stopped.url) ctx.notice(`This shell still names it: ${UNSET_SERVER}`);
      return stopped;
    }
    const { pid } = (await (await ctx.sandbox()).send('stop', {})).result;
    return { url: `${elsewhere.origin}/v1`, pid };
  },
  show: row => ({
    data: { ...row },
    noun: 'server',
    idField: 'url',
    columns: SERVER_COLUMNS,
    blocks: [{ kind: 'line', text: `Stopped: ${row.url} (process ${row.pid}).` }],
  }),
});
