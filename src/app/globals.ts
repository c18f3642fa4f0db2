/** Options of every command, as typed or as the environment says, and commands to copy, which have them as well. */
import { durationOf } from '../core/durations.ts';
import { type CliError, usage } from '../core/errors.ts';
import { withoutUndefined } from '../core/objects.ts';
import { shellWord, withTypedWords } from '../core/shell-quote.ts';
import type { Environment } from '../platform/host.ts';
import { OUTPUT_FORMATS, type OutputFormat, type Presentation } from '../terminal/view.ts';

export interface GlobalOption {
  readonly name: string;
  readonly short?: string;
  /** Absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** What its value is the name of. */
  readonly names?: 'profile';
  readonly means: string;
  /** Environment variable that says the same. */
  readonly env?: string;
  /** Completion never inserts it. */
  readonly typedOnly?: true;
  /** Stands in the short list of the root help. */
  readonly shown?: true;
}

/** Each by its name, in the order of help. */
const OPTIONS: Readonly<Record<string, Omit<GlobalOption, 'name'>>> = {
  profile: {
    short: 'p',
    value: 'name',
    names: 'profile',
    means: 'profile to use',
    env: 'CARDWRIGHT_PROFILE',
    shown: true,
  },
  sandbox: { means: 'the built-in profile: the whole service, offline', shown: true },
  live: {
    value: 'profile',
    names: 'profile',
    means: 'name the live profile that a write is meant for',
    env: 'CARDWRIGHT_LIVE',
  },
  output: {
    short: 'o',
    value: 'format',
    choices: OUTPUT_FORMATS,
    means: 'output format',
    env: 'CARDWRIGHT_OUTPUT',
    shown: true,
  },
  json: { means: 'same as -o json; never asks', shown: true },
  fields: { value: 'a,b', means: 'keep these fields of the answer', shown: true },
  jq: { value: 'expr', means: 'filter the JSON with jq; implies --json', shown: true },
  columns: { value: 'a,b', means: 'columns of the table' },
  sort: { value: '[-]field', means: 'order of the rows, over all pages unless you give --page' },
  'csv-raw': { means: 'CSV cells unchanged: no guard against formulas, no escapes' },
  quiet: { short: 'q', means: 'the requested data and errors only', shown: true },
  verbose: { short: 'v', means: 'request lines on standard error' },
  debug: { means: 'redacted HTTP on standard error' },
  'no-input': { means: 'never ask; fail and name the missing flag', env: 'CARDWRIGHT_NO_INPUT', shown: true },
  yes: { short: 'y', means: 'answer confirmations with yes', typedOnly: true },
  'dry-run': { means: 'show what would be sent, send nothing', shown: true },
  timeout: { value: 'duration', means: 'time limit of one request, such as 30s or 2m' },
  contract: { value: 'file', means: 'file with contract overrides for this command', env: 'CARDWRIGHT_CONTRACT' },
  journal: { value: 'url|local', means: 'shared journal to keep operations in, or that of this machine' },
  color: { value: 'when', choices: ['always', 'auto', 'never'], means: 'colour: always, auto or never' },
  accessible: { means: 'no redrawing, one field a line' },
  help: { short: 'h', means: 'help for the command', shown: true },
  version: { short: 'V', means: 'print the version', shown: true },
};

export const GLOBALS: readonly GlobalOption[] = Object.entries(OPTIONS).map(([name, option]) => ({ name, ...option }));

/** Formats whose errors are JSON too, and that never ask. */
const MACHINE_FORMATS: readonly string[] = ['json', 'ndjson'] satisfies OutputFormat[];

/** True when the options of a line, however wrong it is, ask for a format whose errors are JSON. */
export function wantsMachineFormat(typed: Typed, env: Environment): boolean {
  if (typed['json'] === true || typed['jq'] !== undefined) return true;
  return MACHINE_FORMATS.includes(String(typed['output'] || (env['CARDWRIGHT_OUTPUT'] ?? '')));
}

type Typed = Readonly<Record<string, unknown>>;

/** Global options of one run, as typed or as the environment says. */
export type Globals = Readonly<ReturnType<typeof readGlobals>>;

/**
 * Options as commander read them (camel case), completed from the environment. Throws `usage` for a bad choice, and for
 * a variable of ours that is empty.
 */
export function readGlobals(typed: Typed, env: Environment) {
  refuseEmptyVariables(env);
  const word = (name: string) => {
    const { env: variable = '', choices, value: form } = OPTIONS[name] ?? {};
    const value = typed[name] ?? env[variable];
    // A script whose variable is empty meant a value.
    if (typeof typed[name] === 'string' && typed[name].trim() === '')
      throw usage(
        `--${name} ${JSON.stringify(typed[name])} must not be empty; write --${name} <${form}> or leave it out`,
      );
    if (typeof value !== 'string' || value === '') return undefined;
    if (choices?.includes(value) === false)
      throw usage(`--${name} ${JSON.stringify(value)} is not one of ${choices.join(', ')}`);
    return value;
  };
  const list = (name: string) => {
    const names = word(name)
      ?.split(',')
      .map(part => part.trim());
    if (names?.includes(''))
      throw usage(`--${name} ${JSON.stringify(typed[name])}: a name is missing before or after a comma`);
    return names;
  };
  const [jq, named] = [word('jq'), typed['output'] === undefined ? undefined : word('output')];
  const asJson = typed['json'] === true || jq !== undefined;
  if (asJson && named !== undefined && named !== 'json')
    throw usage(`--${jq === undefined ? 'json' : 'jq'} and -o ${named} ask for two formats; remove one of them`);
  const format = (asJson ? 'json' : (word('output') ?? 'table')) as OutputFormat;
  const timeout = word('timeout');
  const machine = MACHINE_FORMATS.includes(format);
  return {
    // An empty name is none, and not one that was left out.
    profile: typeof typed['profile'] === 'string' ? typed['profile'] : undefined,
    sandbox: typed['sandbox'] === true,
    live: word('live'),
    format,
    /** `-o` was typed: a table then is a table in a pipe too. The environment alone does not turn pipes into tables. */
    byName: named !== undefined,
    /** A machine format was named, so nothing is ever asked. */
    machine,
    fields: list('fields'),
    /** The format is then JSON. */
    jq,
    columns: list('columns'),
    sort: word('sort'),
    csvRaw: typed['csvRaw'] === true,
    quiet: typed['quiet'] === true,
    verbose: typed['verbose'] === true,
    debug: typed['debug'] === true,
    noInput: typed['noInput'] === true || isSet(env['CARDWRIGHT_NO_INPUT']) || isSet(env['CI']) || machine,
    yes: typed['yes'] === true,
    dryRun: typed['dryRun'] === true,
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout, '--timeout'),
    contract: word('contract'),
    journal: word('journal'),
    colour: (word('color') ?? 'auto') as 'always' | 'auto' | 'never',
    accessible: typed['accessible'] === true,
    /** Typed options that a command to copy must have as well. */
    repeated: repeatedOptions(typed),
  };
}

const OURS = 'CARDWRIGHT_';

/** What help and `docs/guide/service.md` say of it. */
export const EMPTY_VARIABLES = `A variable ${OURS}… that is set and empty is refused (exit 2).`;

/**
 * Throws `usage` for a variable of ours that is set and empty: a CI job that lacks a secret or a setting has one, and what
 * it should have chosen must not be chosen otherwise.
 */
function refuseEmptyVariables(env: Environment): void {
  const empty = Object.keys(env).find(name => name.startsWith(OURS) && env[name] === '');
  if (empty === undefined) return;
  throw usage(`${empty} is set and empty`, `unset ${empty}`);
}

/** `30s`, `2m`, `1h`, `500ms` in milliseconds. Throws `usage` naming the flag. */
export function parseDuration(text: string, flag: string): number {
  const length = /^\d{1,9}ms$/.test(text) ? Number.parseInt(text, 10) : durationOf(text);
  if (length) return length;
  throw usage(`${flag} ${JSON.stringify(text)} is not a duration above 0, such as 500ms, 30s, 2m or 1h`);
}

/** A variable that says yes. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}

/*
 * Commands to copy, with the options that say whom this run spoke to. Whoever prints one writes `cardwright cards list`;
 * here, and nowhere else, it becomes `cardwright --sandbox cards list`, so that it does what it promises when copied.
 */

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
