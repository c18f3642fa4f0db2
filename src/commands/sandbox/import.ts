import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, local } from '../../cli/parsing/flag.ts';
import { whichSandbox } from '../../cli/which-sandbox.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { refuseDamaged, showRestored } from './snapshot/shown.ts';

/** Puts an exported file in place of everything the sandbox holds. */
export const importSandbox = command({
  path: 'sandbox import',
  summary: 'Replace the whole state of the sandbox with an exported file',
  effect: 'irreversible',
  ends: {
    check_failed: 'The file is damaged; nothing has changed.',
    not_authenticated: 'The token is not that of the sandbox elsewhere.',
    outcome_unknown:
      'The whole file was sent, and the sandbox did not answer; it holds the file, or what it held before.',
    unreachable: 'The sandbox elsewhere does not answer.',
  },
  answers: { one: ADMIN_OPERATIONS['snapshots.restore'].returns.shape },
  about: [
    'Every checksum is verified first. If one byte differs, that is exit 15, and nothing has changed.',
    'Webhook subscriptions come along. The sandbox then delivers to the addresses of those that are active; question and answer say how many there are.',
  ],
  args: { file: argument(local('file', 'File of sandbox export; - for standard input.')) },
  examples: [
    { does: 'From a file', run: 'sandbox import sandbox.ndjson --yes' },
    { does: 'From standard input', run: 'sandbox import - --yes < sandbox.ndjson' },
  ],
  async run(ctx, { file }) {
    if (ctx.dryRun) {
      throw new CliError('usage', { message: 'sandbox import sends nothing to the service; it has no dry run' });
    }
    const what = file === '-' ? 'standard input' : file;
    const webhooks = ctx.yes ? 0 : await ctx.subscriptionsIn(file);
    const intent = `Replace everything in ${await whichSandbox(ctx)} by ${what}${withSubscriptions(webhooks)}`;
    await confirmed(ctx, {
      intent,
      question: `${intent}?`,
      command: `cardwright sandbox import ${shellWord(file)} --yes`,
    });
    return { what, done: refuseDamaged(what, await ctx.importSandbox(file)) };
  },
  show: ({ what, done }) => ({ data: done, ...showRestored(what, done) }),
});

function withSubscriptions(count: number): string {
  if (count === 0) return '';
  return `, and deliver to the addresses of its ${count === 1 ? 'webhook subscription' : `${count} webhook subscriptions`}`;
}
