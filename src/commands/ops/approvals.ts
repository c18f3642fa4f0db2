/** Approving or rejecting an operation, and the keys that sign. */

import { OWN_KEY, type OwnKey } from '../../app/journal-admin.ts';
import type { Shown } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { needs, option, takes, tells } from '../../cli/parsing/flag.ts';
import { must } from '../../contract/field.ts';
import { type CliError, notSent, usage } from '../../core/errors.ts';
import { cents, plainAmount } from '../../core/money.ts';
import { copiedLine, lineBlock } from '../../terminal/view.ts';
import { APPROVAL, KEPT_OR_NOT, OP_DETAIL, op, showDetail } from './ops.ts';

export const approveOp = command({
  path: 'ops approve',
  summary: 'Approve an operation that is held, at a terminal',
  answers: { one: { op: tells.text('The operation.'), ...APPROVAL } },
  effect: 'reversible',
  effectSays: 'signs the request in the journal; sends nothing to the service',
  ends: {
    not_confirmed: 'Declined, another amount or passphrase was typed, or this is no terminal. Nothing was signed.',
    guarded: 'The key may not approve it, the person has asked for it, or it has expired. Nothing was signed.',
    check_failed: 'Its changes are not those that approval was asked for. Nothing was signed.',
    outcome_unknown: KEPT_OR_NOT,
  },
  about: [
    'Shows what will be sent; the amount is typed, or the count of the changes where no money moves, then the passphrase of the key. There is no way to answer this without a terminal, and --yes is refused.',
    'When enough persons have approved it, the same command or ops resume sends it. In a shared journal nobody approves their own request.',
  ],
  args: { op },
  examples: { 'What ops list shows as pending': 'ops approve op_00000000000000000000000001' },
  async run(ctx, { op: id }) {
    if (ctx.ui.yes) throw usage('ops approve is answered at a terminal alone, and not by --yes');
    const journal = await ctx.journal.admin();
    const request = await journal.review(id);
    if (!ctx.ui.canAsk) {
      throw notSent(
        'not_confirmed',
        `${id} is approved by a person at a terminal, and this is none. Nothing was signed`,
        { reason: 'nobody_to_ask', hint: `cardwright ops show ${id}`, op: id },
      );
    }
    await journal.checkApprover(id);
    const width = Math.max(...request.facts.map(([name]) => name.length));
    for (const [name, words] of request.facts) ctx.ui.notice(`${name.padEnd(width)}  ${words}`);
    for (const line of request.requests) ctx.ui.notice(line);
    const total = cents(request.total);
    const [what, expect] =
      total > 0
        ? ['the amount, without the $', plainAmount(total)]
        : ['the count of the changes', String(request.changes)];
    if (!(await ctx.ui.prompts.typed(`Approve this? Type ${what}`, { expect, flag: 'a terminal' })))
      throw notSent('not_confirmed', 'not confirmed. Nothing was signed.', { reason: 'declined' });
    const passphrase = () => ctx.ui.prompts.secret('Passphrase of your approval key', { flag: 'a terminal' });
    const { persons, needed } = await journal.approve(id, passphrase);
    return { op: id, have: persons.length, needed, persons };
  },
  columns: 'op have needed persons:2',
  noun: 'operation',
  idField: 'op',
  show({ op: id, have, needed }) {
    const said = (then: string) => lineBlock(`Approved ${id}: ${have} of ${needed}. ${then}`);
    if (have < needed) return { blocks: [said('Others are needed.')] };
    return { blocks: [said('The same command sends it, or:'), copiedLine(`cardwright ops resume ${id}`)] };
  },
});

export const rejectOp = command({
  path: 'ops reject',
  summary: 'End an operation that is held: nothing of it is ever sent',
  answers: { one: OP_DETAIL },
  effect: 'reversible',
  effectSays: 'writes to the journal; what was rejected is asked for anew by another command',
  ends: { not_found: 'The journal knows no such operation.', outcome_unknown: KEPT_OR_NOT },
  about:
    'The journal keeps who has rejected it and why. An intent that it had is free again: the same request asks anew.',
  args: { op },
  flags: { reason: needs(must(takes.text('Why.', { maxLength: 200 })), '<text>') },
  examples: {
    'Not this one': 'ops reject op_00000000000000000000000001 --reason "not in the budget"',
    'A request that has expired': 'ops reject op_00000000000000000000000001 --reason expired',
  },
  async run(ctx, { op: id, reason }) {
    return (await ctx.journal.admin()).reject(id, reason);
  },
  show: showDetail,
});

const KEY_COLUMNS = columnsOf(OWN_KEY, 'person keyid', { keyid: 'KEY' });

function keyView(key: OwnKey): Shown {
  const { person, line, listed } = key;
  return {
    data: { ...key },
    noun: 'key',
    idField: 'keyid',
    columns: KEY_COLUMNS,
    quiet: [line],
    blocks: [
      copiedLine(line),
      lineBlock(
        listed ? `It may approve as ${person}.` : 'It may not approve yet: its line is not among the approvers.',
      ),
    ],
  };
}

const SHORTEST_PASSPHRASE = 8;

export const createApprovalKey = command({
  path: 'ops keys create',
  summary: 'Make the key that you approve operations with',
  answers: { one: OWN_KEY },
  effect: 'reversible',
  effectSays: 'keeps one key on this machine',
  ends: { not_confirmed: 'The passphrases differ, or this is no terminal. Nothing was written.' },
  about: [
    'An ed25519 key under a passphrase of 8 characters or more that is typed twice, in a file of yours or in the keychain of the system. A key that is there is not overwritten.',
    'With the journal of one machine it may approve at once. Of a shared journal an admin lists its line: journal init <address> --approver "<line>"; its person is the login role of the database. Where the limits of an administrator name approvers, they alone count.',
  ],
  flags: { keychain: option(takes.flag('Into the keychain of the system.')) },
  examples: {
    'Once for each approver': 'ops keys create',
    'Its line alone': 'ops keys create -q',
  },
  async run(ctx, { keychain = false }) {
    if (!ctx.ui.canAsk) throw refusal('a passphrase is typed at a terminal, and this is none', 'nobody_to_ask');
    const passphrase = await ctx.ui.prompts.secret('New passphrase', { flag: 'a terminal' });
    if (passphrase.expose().length < SHORTEST_PASSPHRASE)
      throw refusal(`a passphrase has ${SHORTEST_PASSPHRASE} characters or more`, 'passphrase');
    const again = await ctx.ui.prompts.secret('The same once more', { flag: 'a terminal' });
    if (again.expose() !== passphrase.expose()) throw refusal('the passphrases differ', 'passphrase');
    return (await ctx.journal.admin()).createKey(passphrase, keychain ? 'keychain' : 'file');
  },
  show: keyView,
});

function refusal(why: string, reason: string): CliError {
  return notSent('not_confirmed', `${why}. Nothing was written`, { reason });
}

export const showApprovalKey = command({
  path: 'ops keys show',
  summary: 'Show the line of the key that you approve with',
  answers: { one: OWN_KEY },
  reach: 'files',
  about: 'The line is "person ed25519 key". It holds no secret.',
  examples: { 'For an admin of a shared journal': 'ops keys show -q' },
  run: async ctx => (await ctx.journal.admin()).ownKey(),
  show: keyView,
});

export const listApprovers = command({
  path: 'ops keys list',
  summary: 'List the keys that may approve operations',
  answers: { list: { person: tells.text('The person.'), keyid: tells.text('First digits of the digest of the key.') } },
  reach: 'files',
  about:
    'Those of the limits of an administrator where they name any; else those of the shared journal, of the approvers_file of the profile, or of the journal of this machine.',
  examples: { 'Who may approve': 'ops keys list' },
  run: async ctx => (await (await ctx.journal.admin()).approvers()).map(({ person, keyid }) => ({ person, keyid })),
  noun: 'key',
  idField: 'keyid',
  columns: KEY_COLUMNS,
});
