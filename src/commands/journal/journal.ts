/** The journal itself: set up, looked at, checked, accepted after a restore, left. */

import { JOURNAL_CHECK, JOURNAL_STATE, type JournalCheck } from '../../app/journal-admin.ts';
import type { Shown } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, eachTime, option, takes, tells } from '../../cli/parsing/flag.ts';
import { notSent } from '../../core/errors.ts';
import { lineBlock } from '../../terminal/view.ts';
import { declined } from '../../writes/guard.ts';
import { money } from '../cards/cards.ts';

const DID = { did: tells.json('What was done, a sentence each.') } as const;

const DID_COLUMNS = columnsOf(DID, 'did', { did: { kind: 'text' } });

function didView(did: readonly string[]): Shown {
  return {
    data: { did: [...did] },
    noun: 'journal',
    columns: DID_COLUMNS,
    blocks: did.map(lineBlock),
    rows: { columns: DID_COLUMNS, rows: did.map(text => ({ did: text })) },
  };
}

export const initJournal = command({
  path: 'journal init',
  summary: 'Make a shared journal in a PostgreSQL database, or set its limits and approvers',
  answers: { one: DID },
  effect: 'reversible',
  effectSays: 'makes tables, roles and grants in the database; may be run again',
  ends: {
    guarded: 'The database cannot be reached, or the role may not do that. Nothing was changed.',
    outcome_unknown: 'Whether the database kept it is unknown. It may be run again.',
  },
  about: [
    'Run by a role that owns the database or may create roles. It makes the schema cardwright and the roles cardwright_operator and cardwright_reader, and prints what it did. Run again, it makes what is missing.',
    'Each person and each runner has a login role of their own: create role ana login password … in role cardwright_operator.',
    'User and password come from PGUSER, PGPASSWORD, PGPASSFILE, ~/.pgpass or the address, as with every tool of PostgreSQL. Beyond this machine the server is verified: sslrootcert names an authority of your own.',
  ],
  args: { address: argument(takes.text('Address of the database, postgres://admin@db/cards.')) },
  flags: {
    key: option(takes.flag('List the API key of this run for its account.')),
    limit: eachTime(
      option(
        takes.text('A limit for everybody who uses the journal; none takes it away. May be given several times.'),
        '<name>=<value>',
      ),
    ),
    approver: eachTime(
      option(
        takes.text('The line of a key that may approve, as ops keys show -q prints it; its person is a login role.'),
        '<line>',
      ),
    ),
  },
  examples: {
    'Once, by an admin': 'journal init postgres://admin@db.example.com/cards',
    'An API key that replaces another one': 'journal init postgres://admin@db.example.com/cards --key',
    'What everybody may spend':
      'journal init postgres://admin@db.example.com/cards --limit max_per_day=500.00 --limit approve_above=100.00',
  },
  async run(ctx, { address, key = false, limit = [], approver = [] }) {
    return (await ctx.journal.admin()).init(address, { key, limits: limit, approvers: approver });
  },
  show: didView,
});

/** For a person, where there is something to say. */
const ALONE = { screenOnly: true, unlessEmpty: true } as const;
const LIST = { ...ALONE, kind: 'list' } as const;

export const journalStatus = command({
  path: 'journal status',
  summary: 'Show where operations are kept, and how that journal stands',
  answers: { one: JOURNAL_STATE },
  reach: 'service',
  ends: { guarded: 'The database cannot be reached.' },
  examples: { 'In words': 'journal status' },
  run: async ctx => (await ctx.journal.admin()).status(),
  columns: [
    'place shared account:2 unfinished:2 key_listed:3 audit_line:3 seen_line:3 locked_by:3 limits:3 approvers:3',
    { key_listed: ALONE, audit_line: ALONE, seen_line: ALONE, locked_by: LIST, limits: LIST, approvers: LIST },
  ],
  noun: 'journal',
  show(state) {
    const notes: string[] = [];
    if (state.key_listed === false) notes.push('The API key is not listed: cardwright journal init <address> --key');
    if ((state.audit_line ?? 0) < (state.seen_line ?? 0))
      notes.push('It was put back, and nothing is sent: cardwright journal accept');
    return { data: { ...state }, notes };
  },
});

export const checkJournal = command({
  path: 'journal check',
  summary: 'Check that nothing else changed the journal, and that it knows all its cards',
  answers: { one: JOURNAL_CHECK },
  reach: 'service',
  ends: { check_failed: 'Something does not fit; all of it is shown.' },
  about: [
    'Follows the chain of audit lines from its beginning, holds each operation against the line that it was begun with and the one that it ended with, and reads the list of cards.',
    'A colleague with the rights of an operator can change rows of a shared journal by SQL, as they hold the API key anyway. A changed operation is not resumed; this finds the rest, and cannot keep them from it.',
  ],
  examples: { 'After a restore, or from time to time': 'journal check' },
  run: async ctx => (await ctx.journal.admin()).check(),
  columns: 'account lines',
  show: found => {
    const flaws = flawsIn(found);
    return {
      data: { ...found },
      noun: 'journal',
      blocks: [lineBlock(`${found.lines} audit lines of ${found.account} in ${found.place}`), ...flaws.map(lineBlock)],
      ...(flaws.length > 0 && {
        failure: notSent(
          'check_failed',
          `${flaws.length} ${flaws.length === 1 ? 'thing does' : 'things do'} not fit in the journal of ${found.account}; the first: ${flaws[0]}`,
          { hint: hintFor(found), notes: flaws.slice(1) },
        ),
      }),
    };
  },
});

/** Where one looks at the first of them. Cards of no operation are accepted with the journal. */
function hintFor({ flaws: [first] }: JournalCheck): string {
  if (first === undefined) return 'cardwright journal accept';
  return first.op === undefined ? 'cardwright audit list' : `cardwright ops show ${first.op}`;
}

function flawsIn({ flaws, strangers }: Pick<JournalCheck, 'flaws' | 'strangers'>): readonly string[] {
  return [
    ...flaws.map(({ what }) => `does not fit: ${what}`),
    ...strangers.map(
      ({ card_id, last4, balance, created_at, marker }) =>
        `no operation knows ${card_id} (ending ${last4 ?? '-'}, ${money(balance)}, made ${created_at ?? '-'}), which carries the mark ${marker}`,
    ),
  ];
}

export const acceptJournal = command({
  path: 'journal accept',
  summary: 'Go on with a journal that was restored, failed over or copied',
  answers: { one: DID },
  effect: 'reversible',
  effectSays: 'writes an audit line; from then on changes are sent again',
  reach: 'service',
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was changed.',
    guarded: 'A limit of the day is set and this is no terminal, or a journal that is not damaged was to be set aside.',
  },
  about: [
    'What was done after the state that was put back is not in the journal. Cards whose mark no operation knows are listed first, those of other journals of the account too: freeze or keep them before you agree, and repeat nothing that made one of them. Transfers and cards without a mark are not listed: look at tx list.',
    'Rows that are open in the journal become unknown: a resume looks for each before it sends anything. Another copy of the same journal is refused from then on.',
    'The sums of the day begin lower with it: where max_per_day or approve_day is set, a person answers this at a terminal, and --yes does not.',
    'With --set-aside a damaged journal of this machine is moved out of the way, and a new one, which is empty, is in its place: look at cards and wallet first. One that is not damaged stays (14).',
  ],
  flags: { setAside: option(takes.flag('Move a damaged journal of this machine aside.')) },
  examples: {
    'After a restore of the database': 'journal accept',
    'Where the journal of this machine is damaged': 'journal accept --set-aside',
  },
  async run(ctx, { setAside = false }) {
    return (await ctx.journal.admin()).accept({
      setAside,
      agree: async found => {
        for (const flaw of flawsIn(found)) ctx.ui.notice(flaw);
        const question = setAside
          ? 'Begin an empty journal in place of the damaged one?'
          : 'Go on with this journal as it is? What was done since is not in it.';
        const limits = [...(await ctx.api.limits()).known.map(({ name }) => name), ...found.limits];
        const ofDay = limits.find(name => name === 'max_per_day' || name === 'approve_day');
        if (ofDay === undefined) return ctx.ui.confirmed('Go on with this journal', question);
        const less = `${ofDay} is set, and the sums of the day begin lower with this journal`;
        if (!ctx.ui.canAsk)
          throw notSent('guarded', `${less}, so a person accepts it at a terminal. Nothing was changed`, {
            reason: 'loosened_limit',
            hint: 'cardwright journal check',
          });
        ctx.ui.notice(`${less}.`);
        if (!(await ctx.ui.prompts.confirm(question, { flag: 'a terminal' }))) throw declined();
      },
    });
  },
  show: didView,
});

export const leaveJournal = command({
  path: 'journal leave',
  summary: 'Take the rights and the approver keys of a role that leaves',
  answers: { one: DID },
  effect: 'reversible',
  effectSays: 'revokes the roles of cardwright in the database',
  ends: { guarded: 'The role has the rights in another way, or you may not revoke them. Nothing was changed.' },
  about:
    'Run by an admin of the database: PGUSER=admin cardwright journal leave bo. Replace the API key at the service too.',
  args: { role: argument(takes.text('Login role of the person or the runner.')) },
  examples: { 'Bo leaves': 'journal leave bo' },
  async run(ctx, { role }) {
    return (await ctx.journal.admin()).leave(role);
  },
  show: didView,
});
