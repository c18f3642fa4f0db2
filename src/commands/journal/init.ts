import { command } from '../../cli/parsing/command.ts';
import { argument, eachTime, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag, text } from '../../contract/field.ts';
import { DID, didView } from './did.ts';

/** Makes a PostgreSQL database a journal that several people share. */
export const initJournal = command({
  path: 'journal init',
  summary: 'Make a shared journal in a PostgreSQL database, or set its limits and approvers',
  answers: { one: DID },
  effect: 'reversible',
  effectSays: 'makes tables, roles and grants in the database; may be run again',
  reach: 'files',
  ends: { guarded: 'The database cannot be reached, or the role may not do that. Nothing was changed.' },
  about: [
    'Run by a role that owns the database or may create roles. It makes the schema cardwright and the roles cardwright_operator and cardwright_reader, and prints what it did. Run again, it makes what is missing.',
    'Each person and each runner has a login role of their own: create role ana login password … in role cardwright_operator.',
    'User and password come from PGUSER, PGPASSWORD, PGPASSFILE, ~/.pgpass or the address, as with every tool of PostgreSQL. Beyond this machine the server is verified: sslrootcert names an authority of your own.',
  ],
  args: { address: argument(text({ doc: 'Address of the database, postgres://admin@db/cards.', basis: OURS })) },
  flags: {
    key: option(flag({ doc: 'List the API key of this run for its account.', basis: OURS })),
    limit: eachTime(
      option(
        text({
          doc: 'A limit for everybody who uses the journal; none takes it away. May be given several times.',
          basis: OURS,
        }),
        '<name>=<value>',
      ),
    ),
    approver: eachTime(
      option(
        text({
          doc: 'The line of a key that may approve, as ops keys show -q prints it; its person is a login role.',
          basis: OURS,
        }),
        '<line>',
      ),
    ),
  },
  examples: [
    { does: 'Once, by an admin', run: 'journal init postgres://admin@db.example.com/cards' },
    { does: 'An API key that replaces another one', run: 'journal init postgres://admin@db.example.com/cards --key' },
    {
      does: 'What everybody may spend',
      run: 'journal init postgres://admin@db.example.com/cards --limit max_per_day=500.00 --limit approve_above=100.00',
    },
  ],
  async run(ctx, { address, key = false, limit = [], approver = [] }) {
    if (ctx.dryRun) throw usage('journal init sends nothing to the service; it has no dry run');
    return (await ctx.journalAdmin()).init(address, { key, limits: limit, approvers: approver });
  },
  show: didView,
});
