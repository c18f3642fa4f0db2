/** Which id a short one stands for. */
import { CliError } from '../core/errors.ts';
import type { Candidate, Kind } from './id-candidates.ts';
import { quote, usage } from './parsing/values.ts';

/** The most candidates an error names. */
const MOST_NAMED = 10;

const MARKS = /(?:…|\.\.\.)$/u;
/** As printed in a column of its own, with the mark that a copied short id has. */
const LAST_FOUR = /^\d{4}(?:…|\.\.\.)?$/u;

/** An id in the input that a person typed. */
export interface Typed {
  readonly key: string;
  readonly kind: Kind;
  readonly word: string;
  readonly isOperand: boolean;
}

/** Whether the word itself says that it is no whole id. */
export function isShortened(typed: Typed): boolean {
  return MARKS.test(typed.word) || byDigits(typed);
}

/** Whether the word may stand for this one. */
export function fits({ id, last4 }: Candidate, word: string): boolean {
  const written = word.replace(MARKS, '');
  if (id.startsWith(written) || (LAST_FOUR.test(word) && last4 === written)) return true;
  // The part behind the prefix, where the mark says that it was copied from a table.
  return MARKS.test(word) && written !== '' && id.slice(id.lastIndexOf('_') + 1).startsWith(written);
}

/** The one that a word stands for. Throws `not_found` where none fits, `usage` where several do. */
export function theOne(typed: Typed, found: readonly Candidate[]): Candidate {
  const { kind, word } = typed;
  const fitting = found.filter(candidate => fits(candidate, word));
  const [first] = fitting;
  const exact = fitting.find(({ id }) => id === word);
  if (exact !== undefined) return exact;
  const written = word.replace(MARKS, '');
  const begins = `has an id that begins with ${quote(written)}`;
  const wanted = byDigits(typed) ? [`ends in ${written}`, ...(written === word ? [] : [begins])].join(' or ') : begins;
  const hint = LISTS[kind];
  if (first === undefined) {
    throw new CliError('not_found', { message: `no ${NOUNS[kind]} ${wanted}`, hint, outcome: 'not_sent' });
  }
  if (fitting.length === 1) return first;
  const more = fitting.length > MOST_NAMED ? [`and ${fitting.length - MOST_NAMED} more`] : [];
  const { message, facts } = usage(
    `${quote(word)} fits ${fitting.length} ${NOUNS[kind]}s: write more characters of the id`,
    hint,
  );
  const notes = [...fitting.slice(0, MOST_NAMED).map(candidateText), ...more];
  throw new CliError('usage', { ...facts, message, notes });
}

const NOUNS: Readonly<Record<Kind, string>> = {
  card: 'card',
  bin: 'BIN',
  webhook: 'subscription',
  op: 'operation',
  transaction: 'transaction',
  challenge: 'challenge',
  pending: 'authorization or challenge',
};
/** The command that shows the whole ids of a kind. */
export const LISTS: Readonly<Record<Kind, string>> = {
  card: 'cardwright cards list --all',
  bin: 'cardwright bins list',
  webhook: 'cardwright webhooks list',
  op: 'cardwright ops list',
  transaction: 'cardwright tx list --all',
  challenge: 'cardwright 3ds list',
  pending: 'cardwright 3ds list',
};

/** An id with what helps to recognise it. */
export function candidateText({ id, facts }: Candidate): string {
  return `${id} (${facts})`;
}

/** The last four digits: only the service knows them. */
export function byDigits({ kind, word }: Typed): boolean {
  return kind === 'card' && LAST_FOUR.test(word);
}
