import { tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { must } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { cents, plainAmount } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { CheckedRequest } from '../../journal/approvals/request-file.ts';
import { file, requestNamed, requestOrFile } from './arguments.ts';
import { REQUEST_COLUMNS, requestLines, requestRow } from './columns.ts';
import { recordAnswer } from './recorded.ts';

/** A person's yes, at a terminal alone: what is shown is read from the very bytes that are signed. */
export const approveRequest = command({
  path: 'approvals approve',
  summary: 'Approve what somebody else has asked for',
  answers: {
    one: {
      id: tells.text('Id of the request.'),
      op: tells.text('The operation that is held.'),
      kept: tells.text('The file of the approval, or journal.'),
      have: tells.count('Persons whose approval is known here.'),
      needed: tells.count('Persons who must approve it.'),
      repeated: tells.yes('The same person had approved it before; nothing was signed.'),
    },
  },
  effect: 'reversible',
  effectSays: 'signs the request with the key of this machine; sends nothing to the service',
  reach: 'files',
  ends: {
    not_confirmed: 'Declined, another amount or passphrase was typed, or this is no terminal. Nothing was signed.',
    guarded: 'The request is over, or was asked for by the same person. Nothing was signed.',
    check_failed: 'The rows are not those that were asked for. Nothing was signed.',
  },
  about: [
    'The amount is typed; for what cannot be undone, the last four digits of the card; for several cards of that kind, their count. Then the passphrase of the key. There is no way to answer this without a terminal, and --yes is refused.',
    'With an id the approval is kept in the journal. With --file it is written beside the request as <id>.approval.json, to be committed or handed on; --out names another file.',
  ],
  args: { request: requestOrFile },
  flags: {
    file,
    out: option(must(local('file', 'New file for the approval.')), '<file>'),
  },
  examples: [
    { does: 'One of the journal', run: 'approvals approve apr_00000000000000000000000001' },
    { does: 'The file of a pull request', run: 'approvals approve --file request.json' },
  ],
  async run(ctx, { request: id, file: path, out }) {
    if (ctx.dryRun) throw usage('approvals approve sends nothing to the service; approvals show is its dry run');
    if (ctx.yes) throw usage('approvals approve is answered at a terminal alone, and not by --yes');
    const request = await requestNamed(ctx, { request: id, file: path });
    const review = await ctx.approvals();
    await review.refuse(request);
    if ('state' in request && out === undefined && (await review.hasApproved(request)))
      return { request, place: undefined, have: request.persons.length, repeated: true };
    if (!ctx.canAsk) throw noTerminal(request, path);
    for (const line of requestLines(request)) ctx.notice(line);
    await typed(ctx, request);
    const passphrase = await ctx.prompts.secret('Passphrase of your approval key', { flag: 'a terminal' });
    const approval = await review.sign(request, passphrase);
    const place = path === undefined ? out : (out ?? `${request.payload.id}.approval.json`);
    if (place !== undefined) await ctx.createFile(place, approval);
    const standing = path === undefined ? await review.keep(request, approval) : undefined;
    await recordAnswer(ctx, request, { operation: 'approvals.approve' });
    return { request: standing ?? request, place, have: standing?.persons.length ?? 1, repeated: false };
  },
  show: ({ request, place, have, repeated }) => {
    const { id, op, needed } = request.payload;
    const next = sentBy(request.payload, place);
    return {
      data: { id, op, kept: place ?? 'journal', have, needed, repeated },
      noun: 'request',
      idField: 'id',
      columns: REQUEST_COLUMNS,
      quiet: [place ?? id],
      blocks: [
        {
          kind: 'line',
          text: `${repeated ? `${id} was approved by you before` : `Approved ${id}`}${place === undefined ? '' : `: ${place}`}. ${place === undefined ? `${have} of ${needed}. ` : ''}${next}`,
        },
      ],
      rows: { columns: REQUEST_COLUMNS, rows: [requestRow(request)] },
    };
  },
});

/** With files of several persons the others are not known here. */
function sentBy({ op, needed }: CheckedRequest['payload'], place: string | undefined): string {
  const resume = `cardwright ops resume ${op}`;
  if (place === undefined) return `It is sent by: ${resume}`;
  const own = `${resume} --approval ${shellWord(place)}`;
  if (needed === 1) return `It is sent by: ${own}`;
  return `It needs ${needed} persons, and is sent with the file of each, separated by commas: ${own},other.approval.json`;
}

async function typed(ctx: Context, { payload }: CheckedRequest): Promise<void> {
  const { cents: sum, rows, irreversible, targets } = payload;
  const last4 = rows === 1 ? targets[0]?.last4 : undefined;
  const [what, expect] = irreversible
    ? last4 === undefined
      ? ['the count of the rows', String(rows)]
      : ['the last four digits of the card', last4]
    : sum > 0
      ? ['the amount', plainAmount(cents(sum))]
      : ['the count of the rows', String(rows)];
  const agreed = await ctx.prompts.typed(`Approve this? Type ${what}`, { expect, flag: 'a terminal' });
  if (!agreed) throw new CliError('not_confirmed', declined);
}

const declined = { message: 'not confirmed. Nothing was signed.', reason: 'declined', outcome: 'not_sent' } as const;

function noTerminal({ payload: { id, op } }: CheckedRequest, path: string | undefined): CliError {
  const request = path === undefined ? id : `--file ${shellWord(path)}`;
  return new CliError('not_confirmed', {
    message: `${id} is approved by a person at a terminal, and this is none. Nothing was signed`,
    reason: 'nobody_to_ask',
    hint: `cardwright approvals show ${request}`,
    outcome: 'not_sent',
    op,
  });
}
