import { command } from '../../cli/command.ts';
import { SERVER_COLUMNS, SERVER_ROW } from './server.ts';

/** Ends the sandbox that was started on this store; what it holds stays. */
export const stopSandbox = command({
  path: 'sandbox stop',
  summary: 'End the sandbox that was started, once its running requests are finished',
  effect: 'reversible',
  answers: { one: SERVER_ROW },
  about: ['Its store and its key stay. Where none is started it is exit 12.'],
  examples: [{ does: 'End it', run: 'sandbox stop' }],
  run: ctx => ctx.servers.stop(),
  show: row => ({
    noun: 'server',
    idField: 'url',
    columns: SERVER_COLUMNS,
    blocks: [{ kind: 'line', text: `Stopped: ${row.url} (process ${row.pid}). What it held is in ${row.store}.` }],
  }),
});
