import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { CliError } from '../../core/errors.ts';
import type { TwinOfBrought } from '../../journal/shared-ops.ts';

/** Brings outcomes that a command of this machine has seen when the database was away. */
export const pushJournal = command({
  path: 'journal push',
  summary: 'Bring to a shared journal what this machine could not write there',
  answers: {
    one: {
      brought: tells.rows(
        { op: tells.text('The operation.'), rows: tells.count('Rows whose outcome it did not know.') },
        'What was brought.',
      ),
      left_out: tells.rows(
        {
          op: tells.text('The operation.'),
          records: tells.count('Records that were not brought; none of them is an outcome.'),
          holder: tells.text('Role that has it.'),
          host: tells.text('Machine that has it.'),
        },
        'Operations in other hands whose last records this machine keeps.',
      ),
      missing: tells.texts('Operations that were begun there and are not there any longer.'),
      recovered: tells.rows(
        { op: tells.text('The operation.'), rows: tells.count('Its rows.') },
        'Operations that the database had lost, brought back.',
      ),
      lost_lines: tells.count(
        'Lines of its audit log that this machine had seen and that it does not hold; there may be more.',
      ),
      audit_lines: tells.count(
        'Lines about what this machine did without asking the database, such as a freeze, that its audit log has now.',
      ),
      clashes: tells.rows(
        {
          op: tells.text('Operation that was brought back.'),
          with: tells.text('Operation that has the name now.'),
          name: tells.text('Name or idempotency key.'),
        },
        'Names of theirs that were used again since: both may have been carried out.',
      ),
      twins: tells.rows(
        {
          op: tells.text('Operation that was brought back.'),
          with: tells.text('Operation that has the same rows, begun without knowing of it.'),
          rows: tells.count('How many.'),
        },
        'Rows of theirs that another operation has too: both may have been carried out, and no resume sends what is left.',
      ),
    },
  },
  reach: 'files',
  about: [
    'Every command that uses the shared journal does this first; this one does nothing else. An outcome that was brought is shown by ops show, and ops resume finishes its operation.',
    'After a failover, or when a backup was put in its place, the database lacks what was written last. Then this command brings back what this machine has begun there in the last week, or has moved there from its own files: an operation with a row that was sent counts as sent, and ops resume settles it. Every operator runs it before an admin accepts the database.',
  ],
  ends: {
    guarded: 'The journal cannot be reached, or refuses the role.',
    check_failed:
      'It lacks operations that could not be brought back, their names were used again, or another one has the same rows.',
  },
  examples: [
    { does: 'After the database was away', run: 'journal push' },
    { does: 'As data', run: 'journal push --json' },
  ],
  async run(ctx) {
    const {
      lostLines: lost_lines,
      leftOut: left_out,
      notes: audit_lines,
      ...pushed
    } = await (await ctx.journal()).push();
    return { ...pushed, left_out, lost_lines, audit_lines };
  },
  show: ({ brought, left_out, missing, recovered, lost_lines, audit_lines, clashes, twins }) => ({
    data: {
      brought,
      left_out,
      missing,
      recovered,
      lost_lines,
      audit_lines,
      clashes,
      twins: twins.map(({ notes: _, ...each }) => each),
    },
    noun: 'push',
    columns: [],
    quiet: [...recovered, ...brought].map(({ op }) => op),
    blocks: [
      ...lostLines(lost_lines),
      ...recovered.map(({ op, rows }) => ({ kind: 'line', text: `Brought back ${op}: ${rowsOf(rows)}.` }) as const),
      ...brought.map(({ op, rows }) => ({ kind: 'line', text: `Brought ${op}: ${rowsOf(rows)}.` }) as const),
      ...auditLines(audit_lines),
      ...left_out.map(leftOutLine),
      ...(brought.length + recovered.length + audit_lines === 0
        ? [{ kind: 'line', text: 'Nothing was left on this machine.' } as const]
        : []),
    ],
    ...(missing.length > 0 && { failure: lostOps(missing) }),
    ...(twins.length > 0 && { failure: boughtTwice(twins) }),
    ...(clashes.length > 0 && { failure: usedAgain(clashes) }),
  }),
});

function leftOutLine({ op, records, holder, host }: { op: string; records: number; holder: string; host: string }) {
  const what =
    records === 1
      ? '1 record of this machine, which is no outcome, was'
      : `${records} records of this machine, none of them an outcome, were`;
  const text = `${op} is in the hands of ${holder} on ${host}: ${what} not brought.`;
  return { kind: 'line', text } as const;
}

function rowsOf(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}

function auditLines(count: number) {
  if (count === 0) return [];
  const lines = count === 1 ? '1 line' : `${count} lines`;
  return [{ kind: 'line', text: `Brought ${lines} to its audit log.` } as const];
}

function lostLines(count: number) {
  if (count === 0) return [];
  const lines = count === 1 ? '1 line' : `${count} lines`;
  return [
    {
      kind: 'line',
      text: `The database lacks at least ${lines} of its audit log that this machine has seen.`,
    } as const,
  ];
}

function usedAgain(
  clashes: readonly { readonly op: string; readonly with: string; readonly name: string }[],
): CliError {
  const [first] = clashes;
  return new CliError('check_failed', {
    message: `the name ${JSON.stringify(first?.name)} belongs to ${first?.op} and to ${first?.with}: one purchase may have been made twice`,
    notes: ['Look at both, and at the cards themselves.'],
    hint: `cardwright ops show ${first?.op}`,
    outcome: 'unknown',
  });
}

function boughtTwice(twins: readonly TwinOfBrought[]): CliError {
  const [first] = twins;
  const more = new Set(
    twins.slice(1).flatMap(({ op, with: other }) => (op === first?.op ? [] : [`${op} and ${other}`])),
  );
  return new CliError('check_failed', {
    message: `${first?.rows === 1 ? '1 row' : `${first?.rows} rows`} of ${first?.op}, which was brought back, ${first?.rows === 1 ? 'is' : 'are'} in ${first?.with} too: what both have done was bought twice`,
    notes: [
      ...(first?.notes ?? []),
      ...(more.size === 0 ? [] : [`The same with ${[...more].slice(0, MOST_NAMED).join('; ')}.`]),
    ],
    hint: `cardwright ops show ${first?.op}`,
    outcome: 'unknown',
  });
}

const MOST_NAMED = 10;

function lostOps(missing: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `the shared journal does not hold ${missing.join(', ')}, which this machine has begun there`,
    notes: ['Look at the service itself before you do any of it again, and tell an admin of the journal.'],
    hint: 'cardwright journal status',
    outcome: 'unknown',
  });
}
