/** What is asked for where a value was left out, and what there is to choose from. */
import { CliError } from '../core/errors.ts';
import { typedCommand } from '../core/shell-quote.ts';
import type { Choice } from '../terminal/prompts.ts';
import type { Context } from './context.ts';
import { knownIds, statesFor } from './ids.ts';
import type { Command, Registry } from './parsing/declaration.ts';
import type { Flag } from './parsing/flag.ts';
import type { Parsed } from './parsing/parsed.ts';
import { readLine } from './parsing/tree.ts';
import { parseValue, type ValueSettings } from './parsing/values.ts';

interface LineToComplete {
  readonly context: Context;
  readonly registry: Registry;
  readonly settings: ValueSettings;
}

/** The line read again with the answers, which are printed as part of it; what was typed where there are none. */
export async function complete(typed: Parsed, line: LineToComplete): Promise<Parsed> {
  const answers = await asked(typed.command, typed, line);
  if (answers.length === 0) return typed;
  // Behind `--` another program's words begin.
  const at = typed.argv.indexOf('--');
  const argv = typed.argv.toSpliced(at < 0 ? typed.argv.length : at, 0, ...answers);
  line.context.ui.notice(`Command: ${typedCommand(argv)}`);
  const whole = await readLine(argv, line.registry);
  return whole.asks === 'command' ? whole.parsed : typed;
}

/** Nothing where there is nothing to choose from: the usual refusal then says what is missing. */
async function asked(command: Command, parsed: Parsed, { context, settings }: LineToComplete): Promise<string[]> {
  const { args, flags } = parsed.missing();
  const { prompts } = context.ui;
  const ask = async ({ field, flag, question, literals = [], check }: Wanted) => {
    const choices =
      field.choices?.map(value => ({ value, name: value })) ?? (await offered(context, command, field.names));
    if (choices === undefined) return prompts.text(question, { flag, problem: check });
    if (choices.length === 0) return undefined;
    return prompts.search(question, [...literals.map(value => ({ value, name: value })), ...choices], { flag });
  };
  const words: string[] = [];
  for (const { field, noun } of args) {
    const isChosen = field.names !== undefined || field.choices !== undefined;
    const question = isChosen ? `Which ${noun === 'bin' ? 'BIN' : noun}` : `${sentence(field.doc)} (<${noun}>)`;
    const check = problemOf(`the ${noun}`, field, settings);
    const answer = await ask({ field, question, flag: `<${noun}>`, check });
    if (answer === undefined) return [];
    words.push(answer);
  }
  for (const { field, name, literals, repeats } of flags) {
    const check = repeats ? () => undefined : problemOf(name, field, settings);
    const answer = await ask({ field, question: `${sentence(field.doc)} (${name})`, flag: name, literals, check });
    if (answer === undefined) return [];
    words.push(...flagWords(name, answer));
  }
  if (flags.length === 0) return words;
  const wished = command.flags.filter(({ key }) => command.asks.includes(key) && parsed.typed[key] === undefined);
  for (const { field, name } of wished) {
    const problem = problemOf(name, field, settings);
    const check = (text: string) => (text === '' ? undefined : problem(text));
    const question = `${sentence(field.doc)} (${name}, may be empty)`;
    const answer = await prompts.text(question, { flag: name, problem: check });
    if (answer !== '') words.push(...flagWords(name, answer));
  }
  return words;
}

/** A value that looks like an option stands behind `=`. */
const flagWords = (name: string, value: string) => (value.startsWith('-') ? [`${name}=${value}`] : [name, value]);

interface Wanted {
  readonly field: Flag['field'];
  readonly question: string;
  readonly flag: string;
  readonly literals?: readonly string[];
  readonly check: (text: string) => string | undefined;
}

function problemOf(name: string, field: Flag['field'], settings: ValueSettings) {
  return (text: string): string | undefined => {
    try {
      parseValue(name, field, text, settings);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof CliError && thrown.kind === 'usage') return thrown.message;
      throw thrown;
    }
  };
}

/** The help text of a field as the beginning of a question. */
const sentence = (doc: string) => doc.replace(/\.$/, '');

/** More than a person looks through; who has more types an id. */
const MOST = 1_000;

/** Ids of that kind; for cards only those whose state the operation can act on. Undefined for a kind there is no list of. */
async function offered(
  context: Context,
  command: Command,
  kind: string | undefined,
): Promise<readonly Choice<string>[] | undefined> {
  const choice = (value: string, words: readonly string[]) => ({ value, name: words.join('  ') });
  if (kind === 'profile')
    return (await (await context.profiles()).list()).map(({ name, ...at }) =>
      choice(name, [name, at.mode, at.base_url]),
    );
  if (kind !== 'card' && kind !== 'bin' && kind !== 'webhook') return undefined;
  const found: Choice<string>[] = [];
  for await (const { id, facts } of knownIds(kind, { command, context, states: statesFor(command.operation) })) {
    // On a narrow screen the end of it is not seen.
    found.push(choice(id, [...facts, id]));
    if (found.length >= MOST) break;
  }
  return found;
}
