import { maybe, tells } from '../../cli/answer-fields.ts';
import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { whichSandbox } from '../../cli/which-sandbox.ts';
import { flag } from '../../contract/field.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import { sizeFor } from './load-size.ts';
import { STATUS_COLUMNS, statusPairs } from './state.ts';

/** Starts the sandbox over. Its files are never deleted: `--hard` moves them aside. */
export const resetSandbox = command({
  path: 'sandbox reset',
  summary: 'Reset the sandbox to a data set',
  answers: {
    one: {
      ...ADMIN_OPERATIONS.reset.returns.shape,
      moved_aside: maybe(tells.texts('Files of the store before, with --hard.')),
    },
  },
  about: [
    'Data sets: empty has BINs and an empty wallet; demo is six weeks of a small team; load has as many cards and transactions as you ask for (--cards, --transactions).',
    'A clock that was moved or set stays as it is. Back to the real time: cardwright sandbox clock set real',
    '--keep keeps BINs, fault rules or created keys.',
    '--hard replaces a damaged store: its files are moved aside without being read, and a new store is made.',
  ],
  operation: 'reset',
  flags: {
    data: 'body.data',
    seed: 'body.seed',
    cards: 'body.cards',
    transactions: 'body.transactions',
    keep: 'body.keep',
    hard: option(flag({ doc: 'Move the store aside and make a new one.', basis: OURS })),
  },
  examples: [
    { does: 'Back to the demo data', run: 'sandbox reset --yes' },
    { does: 'Empty, with fixed ids', run: 'sandbox reset --data empty --seed 7 --yes' },
    { does: 'For a load test', run: 'sandbox reset --data load --cards 200 --transactions 1000 --yes' },
  ],
  async run(ctx, { hard, ...asked }) {
    if (ctx.dryRun)
      throw new CliError('usage', {
        message: 'sandbox reset sends nothing to the service; it has no dry run',
        outcome: 'not_sent',
      });
    sizeFor(asked.data, asked);
    const elsewhere = await ctx.sandboxElsewhere();
    if (hard && elsewhere !== undefined) {
      throw usage(`--hard moves files of this machine; ${elsewhere.namedBy} names a sandbox elsewhere`);
    }
    const intent = hard
      ? 'Move the store of the sandbox aside and make a new one'
      : `Replace everything in ${await whichSandbox(ctx)}`;
    await confirmed(ctx, { intent, question: `${intent}?`, command: commandFor(asked, hard === true) });
    const moved = hard ? await ctx.moveSandboxAside() : [];
    // One that is started knows then that everything was replaced.
    const admin = (await ctx.servers.control()) ?? (await ctx.sandbox());
    const { result } = await admin.send('reset', asked);
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

/** The same command, with the answer to its question. */
function commandFor(asked: Readonly<Record<string, unknown>>, hard: boolean): string {
  const flags = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, Array.isArray(value) ? value.join(',') : String(value)],
  );
  return ['cardwright sandbox reset', ...(hard ? ['--hard'] : []), ...flags, '--yes'].join(' ');
}
