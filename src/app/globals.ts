/** Options of every command, as typed or as the environment says. */
import { durationOf } from '../core/durations.ts';
import { usage } from '../core/errors.ts';
import { refuseEmptyVariables } from '../core/variables.ts';
import type { Environment } from '../platform/host.ts';
import { OUTPUT_FORMATS, type OutputFormat } from '../terminal/view.ts';
import { repeatedOptions } from './repeated.ts';

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

export const GLOBALS: readonly GlobalOption[] = [
  {
    name: 'profile',
    short: 'p',
    value: 'name',
    names: 'profile',
    means: 'profile to use',
    env: 'CARDWRIGHT_PROFILE',
    shown: true,
  },
  { name: 'sandbox', means: 'the built-in profile: the whole service, offline', shown: true },
  {
    name: 'live',
    value: 'profile',
    names: 'profile',
    means: 'name the live profile that a write is meant for',
    env: 'CARDWRIGHT_LIVE',
  },
  {
    name: 'output',
    short: 'o',
    value: 'format',
    choices: OUTPUT_FORMATS,
    means: 'output format',
    env: 'CARDWRIGHT_OUTPUT',
    shown: true,
  },
  { name: 'json', means: 'same as -o json; never asks', shown: true },
  { name: 'fields', value: 'a,b', means: 'keep these fields of the answer', shown: true },
  { name: 'jq', value: 'expr', means: 'filter the JSON with jq; implies --json', shown: true },
  { name: 'columns', value: 'a,b', means: 'columns of the table' },
  { name: 'sort', value: '[-]field', means: 'order of the rows, over all pages unless you give --page' },
  { name: 'csv-raw', means: 'CSV cells unchanged: no guard against formulas, no escapes' },
  { name: 'quiet', short: 'q', means: 'the requested data and errors only', shown: true },
  { name: 'verbose', short: 'v', means: 'request lines on standard error' },
  { name: 'debug', means: 'redacted HTTP on standard error' },
  { name: 'no-input', means: 'never ask; fail and name the missing flag', env: 'CARDWRIGHT_NO_INPUT', shown: true },
  { name: 'yes', short: 'y', means: 'answer confirmations with yes', typedOnly: true },
  { name: 'dry-run', means: 'show what would be sent, send nothing', shown: true },
  { name: 'timeout', value: 'duration', means: 'time limit of one request, such as 30s or 2m' },
  {
    name: 'contract',
    value: 'file',
    means: 'file with contract overrides for this command',
    env: 'CARDWRIGHT_CONTRACT',
  },
  { name: 'journal', value: 'url|local', means: 'shared journal to keep operations in, or that of this machine' },
  { name: 'color', value: 'when', choices: ['always', 'auto', 'never'], means: 'colour: always, auto or never' },
  { name: 'accessible', means: 'no redrawing, one field a line' },
  { name: 'help', short: 'h', means: 'help for the command', shown: true },
  { name: 'version', short: 'V', means: 'print the version', shown: true },
];

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
  refuseEmptyOptions(typed);
  const word = (name: string) => {
    const { env: variable = '', choices } = GLOBALS.find(option => option.name === name) ?? {};
    const value = typed[name] ?? env[variable];
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

/** A script whose variable is empty meant a value; these options have none that is empty. Throws `usage`. */
function refuseEmptyOptions(typed: Typed): void {
  for (const { name, value } of GLOBALS) {
    // A wrong name, which an empty one is, is told by the rule of names.
    if (value === undefined || name === 'profile') continue;
    const given = typed[name];
    if (typeof given === 'string' && given.trim() === '') {
      throw usage(`--${name} ${JSON.stringify(given)} must not be empty; write --${name} <${value}> or leave it out`);
    }
  }
}

/** `30s`, `2m`, `1h`, `500ms` in milliseconds. Throws `usage` naming the flag. */
export function parseDuration(text: string, flag: string): number {
  const length = /^\d{1,9}ms$/.test(text) ? Number.parseInt(text, 10) : durationOf(text);
  if (length) return length;
  throw usage(`${flag} ${JSON.stringify(text)} is not a duration such as 500ms, 30s, 2m or 1h`);
}

/** A variable that says yes. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
