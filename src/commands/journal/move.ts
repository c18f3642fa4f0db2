import { tells } from '../../cli/answer-fields.ts';
import { confirmed } from '../../cli/confirm.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, flag, list, must, text } from '../../contract/field.ts';
import { capital } from '../../core/row-words.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { MoveWish } from '../../journal/shared-ops.ts';

/** Takes the operations of one service from the files of this machine into a shared journal, or back. */
export const moveJournal = command({
  path: 'journal move',
  summary: 'Move the operations of this machine into a shared journal, or back',
  answers: {
    one: {
      to: tells.word('Where they are now.', ['shared', 'local']),
      moved: tells.count('Operations that were moved.'),
      rows: tells.count('Rows in them.'),
      there: tells.count('Operations that were there already, by an earlier run of this command.'),
      names: tells.count('Names of --intent whose operations were removed before.'),
    },
  },
  about: [
    'With --to shared the operations of the service of this profile go into the shared journal that this run names (--journal, a variable, the profile): their records as they are, names of --intent, idempotency keys, and what was spent on each day. From its first moment on this machine begins nothing more of that service in its own files. The files stay where they are.',
    'Killed at any point it is run again, and goes on. It is refused while another command of this machine is at work. Caps of the account are not asked: what was moved is done.',
    'With --to local everything comes back to this machine, and its own files count again. That is refused until every operation there is finished, who began it has seen that, and an admin has frozen the account, so that nobody begins anything meanwhile. From then on the shared journal takes nothing from another machine until this one has moved everything back, also when the freeze has ended.',
    'With --mine the only operator of an account needs no admin: what is not finished or untold comes along, and is settled or shown here by ops resume. The account is frozen by it. Refused where another role may operate there, and while an operation is in hand or waits for approval.',
    'An operation whose intent or idempotency key belongs to another one in the shared journal is not moved: look at both. With --keep-both, where both have happened, it is moved without that name, which stays with the other one. The audit log says so, and journal check tells it as a note. A row of it that is not settled is settled by ops resolve first.',
    'With --leave this machine goes on in this journal, and leaves another shared one, which nobody uses now and nobody can reach. What this machine has begun there in its last week, and what is not finished, is brought along: a row that was sent counts as sent, and ops resume settles it. Operations of other machines, and older names of --intent, are not known here. Where the other journal can be reached, go over this machine with --to local.',
    'No request is sent to the service.',
  ],
  effect: 'reversible',
  effectSays: 'moves records of this machine; nothing is sent to the service',
  ends: {
    not_confirmed: 'With --keep-both or --leave: nobody agreed. Nothing was moved.',
    guarded: 'A command is at work, an operation is not finished or untold, or the journal cannot be reached.',
    check_failed: 'A name or an operation is there with other values.',
  },
  flags: {
    keepBoth: option(
      list(must(text({ doc: 'An operation, its whole id.', basis: OURS, maxLength: 29 })), {
        doc: 'With --to shared: operations of this machine whose name belongs to another one there. Both have happened.',
        basis: OURS,
      }),
      '<op>',
    ),
    leave: option(
      text({
        doc: 'With --to shared: another shared journal that nobody uses now, account@journal.',
        basis: OURS,
        maxLength: 200,
      }),
      '<account@journal>',
    ),
    mine: option(
      flag({
        doc: 'With --to local, for the only operator of the account: what is not finished comes along.',
        basis: OURS,
      }),
    ),
    to: option(must(choice(['shared', 'local'], { doc: 'Where to.', basis: OURS }))),
  },
  examples: [
    { does: 'From this machine to all', run: 'journal move --to shared' },
    {
      does: 'To a journal that is named here',
      run: 'journal move --to shared --journal postgres://ana@db.example.com/journal',
    },
    { does: 'Back to one machine', run: 'journal move --to local' },
    { does: 'The same for its only operator, with what is not finished', run: 'journal move --to local --mine' },
  ],
  async run(ctx, { to, mine, keepBoth, leave }) {
    if (to === undefined) throw usage('journal move needs --to shared or --to local', 'cardwright journal move --help');
    if (mine && to === 'shared') throw usage('--mine goes with --to local', 'cardwright journal move --help');
    if (keepBoth && to === 'local') throw usage('--keep-both goes with --to shared', 'cardwright journal move --help');
    if (leave && to === 'local') throw usage('--leave goes with --to shared', 'cardwright journal move --help');
    await refuseOtherIds(keepBoth);
    if (keepBoth || leave) await agreed(ctx, { keepBoth, leave });
    return ctx.moveJournal({ to, mine, keepBoth, leave });
  },
  show: moved => ({
    data: { ...moved },
    noun: 'journal',
    idField: 'to',
    columns: [
      { field: 'to', title: 'TO', kind: 'word', priority: 1 },
      { field: 'moved', title: 'MOVED', kind: 'integer', priority: 1 },
      { field: 'rows', title: 'ROWS', kind: 'integer', priority: 1 },
    ],
    blocks: [
      {
        kind: 'line',
        text: `Moved to ${moved.to === 'shared' ? 'the shared journal' : 'this machine'}: ${moved.moved === 1 ? '1 operation' : `${moved.moved} operations`}${moved.there > 0 ? `; ${moved.there} were there already` : ''}.`,
      },
    ],
  }),
});

/** A flag whose value was forgotten takes the next word: nobody is asked about that. */
async function refuseOtherIds(ops: readonly string[] = []): Promise<void> {
  const { isOp } = await import('../../journal/wal/op-id.ts');
  const other = ops.find(op => !isOp(op));
  if (other === undefined) return;
  throw usage(
    `--keep-both ${JSON.stringify(other)} is no whole id of an operation`,
    'cardwright ops list --journal local',
  );
}

/** That both have happened, and that nobody uses a journal any more, is said by a person: nothing here can know it. */
async function agreed(ctx: Context, { keepBoth, leave }: Pick<MoveWish, 'keepBoth' | 'leave'>): Promise<void> {
  const keep =
    keepBoth && `keep ${keepBoth.join(', ')} beside the operations that have the same names in the shared journal`;
  const end = leave && `leave the shared journal ${leave}`;
  const intent = capital([end, keep].filter(Boolean).join(', and '));
  const ask = [leave && 'Has everybody left it?', keepBoth && 'Have both happened?'].filter(Boolean).join(' ');
  const flags = [leave && `--leave ${shellWord(leave)}`, keepBoth && `--keep-both ${keepBoth.join(',')}`];
  const command = ['cardwright journal move --to shared', ...flags.filter(Boolean), '--yes'].join(' ');
  await confirmed(ctx, { intent, question: `${intent}. ${ask}`, command });
}
