/**
 * Reads the words of a line against known options, as far as they go. Completion and help need that before, or
 * without, the parser library; a half-typed line is no error here.
 */
import type { AnyField } from '../../contract/field.ts';
import type { Environment } from '../../platform/host.ts';
import { GLOBALS, type GlobalOption, MACHINE_FORMATS } from './globals.ts';

/** An option of every command or of one. */
export interface KnownOption {
  /** `--output`. */
  readonly name: string;
  /** Other names that mean it and are never offered. */
  readonly aliases: readonly string[];
  /** Can make something happen twice, or answers a question: typed by hand or not at all. */
  readonly typedOnly: boolean;
  /** `-o`. */
  readonly short: string | undefined;
  /** `<format>`; empty for a switch. */
  readonly placeholder: string;
  readonly repeats: boolean;
  readonly means: string;
  readonly choices: readonly string[] | undefined;
  /** What its value is the name of, for completion. */
  readonly names: AnyField['names'];
  /** Absent for global options. */
  readonly field: AnyField | undefined;
}

export const GLOBAL_OPTIONS: readonly KnownOption[] = (GLOBALS as readonly GlobalOption[]).map(
  ({ name, short, value, choices, names, means, typedOnly }) => ({
    name: `--${name}`,
    aliases: [],
    typedOnly: typedOnly === true,
    short: short === undefined ? undefined : `-${short}`,
    placeholder: value === undefined ? '' : `<${value}>`,
    repeats: false,
    means,
    choices,
    names,
    field: undefined,
  }),
);

export interface Scanned {
  /** Long names of the options that stand there, with the last value of those that take one. */
  readonly used: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
  /** The last word is an option that still waits for its value. */
  readonly pending: KnownOption | undefined;
  /** `--` was passed: only operands can follow. */
  readonly ended: boolean;
}

/** Follows the parser's rules: an option takes the next word as its value whatever it looks like, `--` ends options. */
export function scan(words: readonly string[], options: readonly KnownOption[]): Scanned {
  const used = new Map<string, string>();
  const end = words.indexOf('--');
  const before = end < 0 ? words : words.slice(0, end);
  const operands: string[] = end < 0 ? [] : words.slice(end + 1);
  const plain: string[] = [];
  let pending: KnownOption | undefined;
  for (const word of before) {
    if (pending !== undefined) {
      used.set(pending.name, word);
      pending = undefined;
    } else if (word === '-' || !word.startsWith('-')) plain.push(word);
    else pending = readOption(word, options, used);
  }
  return { used, operands: [...plain, ...operands], pending: end < 0 ? pending : undefined, ended: end >= 0 };
}

/** Notes what one word says; returns the option whose value is the next word. */
function readOption(word: string, options: readonly KnownOption[], used: Map<string, string>): KnownOption | undefined {
  if (word.startsWith('--')) {
    const at = word.indexOf('=');
    const typed = at < 0 ? word : word.slice(0, at);
    const option = options.find(({ name, aliases }) => name === typed || aliases.includes(typed));
    if (option === undefined) return undefined;
    used.set(option.name, at < 0 ? '' : word.slice(at + 1));
    return at < 0 && option.placeholder !== '' ? option : undefined;
  }
  // `-qo json` is -q and -o json, `-ojson` is -o json.
  for (let at = 1; at < word.length; at++) {
    const option = options.find(({ short }) => short === `-${word[at]}`);
    if (option === undefined) return undefined;
    used.set(option.name, option.placeholder === '' ? '' : word.slice(at + 1));
    if (option.placeholder !== '') return at === word.length - 1 ? option : undefined;
  }
  return undefined;
}

/** True when the options of a line, however wrong it is, ask for a format whose errors are JSON. */
export function wantsMachineFormat(used: Scanned['used'], env: Environment): boolean {
  if (used.has('--json') || used.has('--jq')) return true;
  return MACHINE_FORMATS.includes(used.get('--output') ?? env['CARDWRIGHT_OUTPUT'] ?? '');
}
