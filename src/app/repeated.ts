/**
 * Commands to copy, with the options that say whom this run spoke to. Whoever prints one writes `cardwright cards list`;
 * here, and nowhere else, it becomes `cardwright --sandbox cards list`, so that it does what it promises when copied.
 */
import type { CliError } from '../core/errors.ts';
import { withoutUndefined } from '../core/objects.ts';
import { shellWord, withTypedWords } from '../core/shell-quote.ts';
import type { Presentation } from '../terminal/view.ts';

type Typed = Readonly<Record<string, unknown>>;

/** Groups that ask the service, or look at the profile or the journal; every other has none, or names its own. */
const SPEAK_TO_A_SERVICE: readonly string[] =
  'cards fleet bins wallet tx overview books policy 3ds webhooks wait ops journal doctor whoami contract api mcp sandbox'.split(
    ' ',
  );
/** A command in a text, to the end of it; the name of the program alone, as in a sentence, is none. */
const COMMAND = new RegExp(`(?<![\\w/.-])cardwright (?=(?:${SPEAK_TO_A_SERVICE.join('|')})(?![\\w-]))(.*)`);
/** It says for itself whom it speaks to, or asks for help, which is the same everywhere. */
const CHOOSES = /(?:^| )(?:-p|--profile|--sandbox|--journal|--help)(?:[ =]|$)/;
/** They make a sandbox. */
const HAS_ITS_OWN = /^sandbox (?:start|exec)(?: |$)/;

/** The words of a command line that a command to copy must have as well; `typed` holds its options in camel case. */
export function repeatedOptions({ sandbox, profile, contract, journal }: Typed): readonly string[] {
  const options: string[] = [];
  if (sandbox === true) options.push('--sandbox');
  if (typeof profile === 'string' && profile !== '') options.push('-p', shellWord(profile));
  if (typeof contract === 'string' && contract !== '') options.push('--contract', shellWord(contract));
  if (typeof journal === 'string' && journal !== '') options.push('--journal', shellWord(journal));
  return options;
}

/** The text, its command with those options. */
export function withRepeated(text: string, options: readonly string[]): string {
  if (options.length === 0) return text;
  return text.replace(COMMAND, (whole, rest: string) => {
    const [own = ''] = rest.split(' -- ');
    return CHOOSES.test(own) || HAS_ITS_OWN.test(own) ? whole : `cardwright ${options.join(' ')} ${rest}`;
  });
}

/** The answer, the commands under `names` and the lines to be copied in every part of it with those options. */
function answerWithRepeated(value: unknown, options: readonly string[], names: readonly string[] = ['next']): unknown {
  if (Array.isArray(value)) return value.map(each => answerWithRepeated(each, options, names));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).map(([name, part]) => {
    const isCommand = typeof part === 'string' && (names.includes(name) || (name === 'text' && 'whole' in value));
    return [name, isCommand ? withRepeated(part, options) : answerWithRepeated(part, options, names)];
  });
  return Object.fromEntries(members);
}

/** What is shown, with those options in its notes and in every command of the answer. */
export function shownWithRepeated<T extends Partial<Presentation>>(shown: T, options: readonly string[]): T {
  const { notes, data, rows, blocks } = shown;
  return {
    ...shown,
    ...(answerWithRepeated(withoutUndefined({ data, rows, blocks }), options) as object),
    ...(notes && { notes: notes.map(note => withRepeated(note, options)) }),
  };
}

/** The error, with those options, or the words of its own command, in everything it tells to run. */
export function errorWithRepeated(error: CliError, argv: readonly string[], options: readonly string[]): CliError {
  const { message, notes, hint, evidence } = error.facts;
  const asTyped = (text: string) => withTypedWords(withRepeated(text, options), argv);
  return error.with({
    ...(evidence &&
      options.length > 0 && { evidence: answerWithRepeated(evidence, options, COMMANDS_IN_EVIDENCE) as Typed }),
    message: withRepeated(message, options),
    ...(notes && { notes: notes.map(asTyped) }),
    ...(hint !== undefined && { hint: asTyped(hint) }),
  });
}

/** Members of the evidence that are whole commands; every other one is what was asked for or found. */
const COMMANDS_IN_EVIDENCE: readonly string[] = ['look', 'resolve_done', 'resolve_not_done'];
