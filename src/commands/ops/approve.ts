import { tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { usage } from '../../cli/parsing/values.ts';
import type { HeldRequest } from '../../cli/shared-journal.ts';
import { CliError } from '../../core/errors.ts';
import { cents, dollars, plainAmount } from '../../core/money.ts';
import { op } from './arguments.ts';

/** A person's yes, at a terminal alone: what is shown is what is signed. */
export const approveOp = command({
  path: 'ops approve',
  summary: 'Approve an operation that is held, at a terminal',
  answers: {
    one: {
      op: tells.text('The operation.'),
      have: tells.count('Persons who have approved it.'),
      needed: tells.count('Persons who must approve it.'),
      persons: tells.json('Who has.'),
    },
  },
  effect: 'reversible',
  effectSays: 'signs the request in the journal; sends nothing to the service',
  reach: 'files',
  ends: {
    not_confirmed: 'Declined, another amount or passphrase was typed, or this is no terminal. Nothing was signed.',
    guarded: 'The key may not approve it, the person has asked for it, or it has expired. Nothing was signed.',
    check_failed: 'Its changes are not those that approval was asked for. Nothing was signed.',
  },
  about: [
    'Shows what will be sent; the amount is typed, or the count of the changes where no money moves, then the passphrase of the key. There is no way to answer this without a terminal, and --yes is refused.',
    'When enough persons have approved it, the same command or ops resume sends it. In a shared journal nobody approves their own request.',
  ],
  args: { op },
  examples: [
    { does: 'What ops list shows as pending', run: 'ops approve op_00000000000000000000000001' },
    { does: 'And its id alone', run: 'ops approve op_00000000000000000000000001 -q' },
  ],
  async run(ctx, { op: id }) {
    if (ctx.dryRun) throw usage('ops approve sends nothing to the service; ops show is its dry run');
    if (ctx.yes) throw usage('ops approve is answered at a terminal alone, and not by --yes');
    const approvals = await ctx.approvals();
    const request = await approvals.review(id);
    if (!ctx.canAsk) {
      throw new CliError('not_confirmed', {
        message: `${id} is approved by a person at a terminal, and this is none. Nothing was signed`,
        reason: 'nobody_to_ask',
        hint: `cardwright ops show ${id}`,
        outcome: 'not_sent',
        op: id,
      });
    }
    for (const line of requestLines(request)) ctx.notice(line);
    await askAmount(ctx, request);
    return approvals.approve(id, () => ctx.prompts.secret('Passphrase of your approval key', { flag: 'a terminal' }));
  },
  show: ({ op: id, persons, needed }) => ({
    data: { op: id, have: persons.length, needed, persons },
    noun: 'operation',
    idField: 'op',
    columns: [
      { field: 'op', title: 'OP', kind: 'id', priority: 1 },
      { field: 'have', title: 'HAVE', kind: 'integer', priority: 1 },
      { field: 'needed', title: 'NEEDED', kind: 'integer', priority: 1 },
      { field: 'persons', title: 'PERSONS', kind: 'list', priority: 2 },
    ],
    quiet: [id],
    blocks: [
      {
        kind: 'line',
        text: `Approved ${id}: ${persons.length} of ${needed}. ${persons.length < needed ? 'Others are needed.' : `It is sent by the same command, or by cardwright ops resume ${id}`}`,
      },
    ],
  }),
});

function requestLines({ facts, requests }: HeldRequest): readonly string[] {
  const width = Math.max(...facts.map(([name]) => name.length));
  return [...facts.map(([name, words]) => `${name.padEnd(width)}  ${words}`), ...requests];
}

async function askAmount(ctx: Context, { total, changes }: HeldRequest): Promise<void> {
  const [what, expect] =
    total > 0
      ? [`the amount, as ${dollars(cents(total))} without the sign`, plainAmount(cents(total))]
      : ['the count of the changes', String(changes)];
  if (await ctx.prompts.typed(`Approve this? Type ${what}`, { expect, flag: 'a terminal' })) return;
  throw new CliError('not_confirmed', {
    message: 'not confirmed. Nothing was signed.',
    reason: 'declined',
    outcome: 'not_sent',
  });
}
