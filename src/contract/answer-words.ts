/**
 * Words by which the 2xx answer of a write denies what was asked for, or puts it off (reading rules 7 and 8). No list of
 * them is shown, so every usual one counts: a word of failure in a 2xx answer is never success. What a row's own shape
 * names as a value of a field is an ordinary value of it and no such word.
 */
import { isObject, type Values } from '../core/objects.ts';
import { ENVELOPES } from './envelopes.ts';

/** Names without case and separators; words as the parts of a value, in lower case. */
const ANSWER_WORDS = {
  /** Values that hold an error when they hold anything. */
  errors: ['error', 'errors', 'fault', 'exception'],
  /** Values that say yes or no. */
  successes: ['ok', 'success', 'succeeded', 'successful', 'issuccess', 'approved', 'accepted', 'executed', 'completed'],
  failures: ['failed', 'failure', 'declined', 'rejected', 'iserror', 'haserror', 'haserrors'],
  /** Values that hold one of the words below, or the number of an HTTP error. */
  states: ['status', 'state', 'result', 'outcome'],
  codes: ['status', 'code', 'statuscode', 'httpstatus'],
  failing: [
    ...['fail', 'failed', 'failing', 'failure', 'error', 'errored', 'exception', 'fault', 'ko', 'nok', 'false'],
    ...['decline', 'declined', 'deny', 'denied', 'reject', 'rejected', 'refused', 'disallowed', 'forbidden'],
    ...['cancel', 'canceled', 'cancelled', 'abort', 'aborted', 'void', 'voided', 'reversed', 'reverted'],
    ...['invalid', 'unsuccessful', 'insufficient', 'timeout', 'unprocessed', 'unauthorized'],
  ],
  pending: [
    ...['pending', 'processing', 'queued', 'enqueued', 'progress', 'accepted', 'submitted', 'scheduled'],
    ...['initiated', 'waiting', 'review', 'deferred'],
  ],
  /** Objects one level down that are read as the top is. */
  envelopes: [...ENVELOPES.single.also, 'result', 'response', 'payload'] as readonly string[],
};

interface AnswerWord {
  readonly says: 'no' | 'later';
  /** Where and what, `data.status "failed"`; of the value only a word of the table. */
  readonly text: string;
}

/** Values of a field that the row itself names. */
type Choices = (name: string) => readonly string[] | undefined;

/** The word of a body that denies it or puts it off; the denial where both stand there. */
export function answerWord(body: unknown, choices: Choices): AnswerWord | undefined {
  if (!isObject(body)) return undefined;
  const found = wordsIn(body, '', choices);
  for (const [name, inner] of Object.entries(body)) {
    if (ANSWER_WORDS.envelopes.includes(name) && isObject(inner)) found.push(...wordsIn(inner, `${name}.`, choices));
  }
  return found.find(({ says }) => says === 'no') ?? found[0];
}

function wordsIn(members: Values, at: string, choices: Choices): AnswerWord[] {
  return Object.entries(members).flatMap(([name, value]) => {
    if (typeof value === 'string' && choices(name)?.includes(value)) return [];
    // Told by its plain name: what else stands in a name of the service is not repeated.
    const plain = name.toLowerCase().replace(/[^a-z]/g, '');
    const said = wordOf(plain, value);
    return said === undefined ? [] : [{ says: said.says, text: `${at}${plain} ${said.word}` }];
  });
}

/** A word that denies, or that puts off. */
type Said = Pick<AnswerWord, 'says'> & { readonly word: string };

function wordOf(name: string, value: unknown): Said | undefined {
  const { errors, successes, failures, states, codes } = ANSWER_WORDS;
  if (errors.includes(name) && isSet(value)) return { says: 'no', word: 'is set' };
  if (successes.includes(name) && /^(?:false|no|0)$/i.test(String(value))) return { says: 'no', word: 'is false' };
  if (failures.includes(name) && /^(?:true|yes|1)$/i.test(String(value))) return { says: 'no', word: 'is true' };
  if (codes.includes(name) && /^[45]\d\d$/.test(String(value))) return { says: 'no', word: String(value) };
  return states.includes(name) ? stateWord(value) : undefined;
}

function stateWord(value: unknown): Said | undefined {
  if (value === false) return { says: 'no', word: 'is false' };
  if (typeof value !== 'string') return undefined;
  const words = value
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const at = (table: readonly string[]) =>
    words.find((word, index) => table.includes(word) && !['no', 'not', 'without'].includes(words[index - 1] ?? ''));
  const failing = at(ANSWER_WORDS.failing);
  if (failing !== undefined) return { says: 'no', word: JSON.stringify(failing) };
  const pending = at(ANSWER_WORDS.pending);
  return pending === undefined ? undefined : { says: 'later', word: JSON.stringify(pending) };
}

const NOTHING: readonly unknown[] = [null, undefined, false, 0, '', 'none', 'null', 'ok', '0', 'false'];

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return !NOTHING.includes(typeof value === 'string' ? value.toLowerCase() : value);
}
