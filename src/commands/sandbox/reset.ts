import { command } from '../../cli/command.ts';
import { confirmed } from '../../cli/confirm.ts';
import { OURS, option } from '../../cli/flag.ts';
import { flag } from '../../contract/field.ts';
import { CliError } from '../../errors.ts';
import { STATUS_COLUMNS, statusPairs } from './status.ts';

/** Starts the sandbox over. Its files are never deleted: `--hard` moves them aside. */
export const resetSandbox = command({
  path: 'sandbox reset',
  summary: 'Start the sandbox over with a data set',
  about: ['--hard is the way out of a damaged store: its files are moved aside, unread, and a new store is made.'],
  operation: 'reset',
  flags: {
    data: 'body.data',
    seed: 'body.seed',
    hard: option(flag({ doc: 'Move the store aside and make a new one.', basis: OURS })),
  },
  examples: [
    { does: 'Back to the demo data', run: 'sandbox reset --yes' },
    { does: 'Empty, with fixed ids', run: 'sandbox reset --data empty --seed 7 --yes' },
  ],
  async run(ctx, { data, seed, hard }) {
    if (ctx.dryRun)
      throw new CliError('usage', {
        message: 'sandbox reset sends nothing to the service; it has no dry run',
        outcome: 'not_sent',
      });
    const intent = hard
      ? 'Move the store of the sandbox aside and make a new one'
      : 'Replace everything in the sandbox';
    const words = [
      'cardwright sandbox reset',
      ...(hard ? ['--hard'] : []),
      ...(data === undefined ? [] : ['--data', data]),
      ...(seed === undefined ? [] : ['--seed', String(seed)]),
      '--yes',
    ];
    await confirmed(ctx, { intent, question: `${intent}?`, command: words.join(' ') });
    const moved = hard ? await ctx.moveSandboxAside() : [];
    const admin = await ctx.sandbox();
    const { result } = await admin.send('reset', { data, seed });
    return { status: result, moved };
  },
  show: ({ status, moved }) => ({
    data: moved.length === 0 ? status : { ...status, moved_aside: moved },
    noun: 'sandbox',
    idField: 'store',
    columns: STATUS_COLUMNS,
    blocks: [
      ...moved.map(file => ({ kind: 'line', text: `Moved aside: ${file}` }) as const),
      { kind: 'pairs', pairs: statusPairs(status) },
    ],
  }),
});
