/**
 * Answers the shells (docs/design/terminal.md, "Completion"): `__complete bash "<line up to the cursor>"`, `__complete
 * zsh|fish <word>…` whose last word is under the cursor, `__complete powershell <the same words, NUL between them, in
 * base64>`. One candidate a line; `:files` alone asks the shell for file names.
 */

import type { AnyField } from '../../contract/field.ts';
import { withoutCardNumbers } from '../../core/card-numbers.ts';
import { withoutPatterns } from '../../core/redaction.ts';
import { printable } from '../../terminal/printable.ts';
import type { Command, Registry } from '../parsing/command.ts';
import { asHelp, type Located, locate, nextWords } from '../parsing/locate.ts';
import { optionsOf } from '../parsing/resolved-flags.ts';
import { GLOBAL_OPTIONS, type KnownOption, type Scanned, scan } from '../parsing/scan.ts';
import { tokenize } from '../parsing/tokenize.ts';

export interface Candidate {
  readonly value: string;
  /** Shown beside it by zsh and fish. */
  readonly means?: string;
}

/** What a word under the cursor is the name of, and where it stands. */
export interface WantedName {
  readonly names: NonNullable<AnyField['names']>;
  /** Undefined before the command is named. */
  readonly command: Command | undefined;
  /** Options on the line, by their long names: `--profile` decides whose cards there are. */
  readonly options: Scanned['used'];
}

/** Candidates for a name. Empty when nothing is known; nobody is asked anything. */
export type ValueProvider = (wanted: WantedName) => Promise<readonly Candidate[]>;

export interface CompletionSettings {
  readonly registry: Registry;
  readonly provide: ValueProvider;
}

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'];
const FILES = ':files';
/** bash inserts a candidate as it is, so one with `$(…)` would run at Enter. */
const HARMLESS = /^[A-Za-z0-9._:@/+=,-]+$/;

/** What to print for the words after `__complete`; empty when nothing fits. Never rejects. */
export async function completionText(args: readonly string[], settings: CompletionSettings): Promise<string> {
  const [shell = '', ...rest] = args;
  if (!SHELLS.includes(shell)) return '';
  const words = wordsFrom(shell, rest);
  try {
    const found = await candidates(words, settings);
    if (found.some(({ value }) => value === FILES)) return `${FILES}\n`;
    const current = words.at(-1) ?? '';
    const fitting = found.filter(
      ({ value }) => value.startsWith(current) && HARMLESS.test(value) && open(value) === value,
    );
    return fitting.map(candidate => `${lineFor(shell, candidate)}\n`).join('');
  } catch {
    // A line that leads nowhere has no candidates, and TAB is no place for an error message.
    return '';
  }
}

/** PowerShell hands programs their arguments in ways that differ by version, and through cmd.exe where npm put a shim. */
function wordsFrom(shell: string, rest: readonly string[]): readonly string[] {
  if (shell === 'bash') return tokenize(rest[0] ?? '').slice(1);
  return shell === 'powershell'
    ? Buffer.from(rest[0] ?? '', 'base64')
        .toString()
        .split('\0')
    : rest;
}

/** Labels are people's own text; what looks like a secret in one is not put on a screen by a key press. */
const open = (text: string) => withoutCardNumbers(withoutPatterns(text));

function lineFor(shell: string, { value, means }: Candidate): string {
  if (shell === 'bash' || means === undefined || means === '') return value;
  return `${value}\t${printable(open(means.replace(/\.$/, '')))}`;
}

async function candidates(words: readonly string[], settings: CompletionSettings): Promise<readonly Candidate[]> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { argv, asksHelp } = await asHelp(before, settings.registry);
  const located = await locate(argv, settings.registry);
  if (asksHelp) return helpCandidates(located, settings.registry);
  const options = located.command === undefined ? GLOBAL_OPTIONS : optionsOf(located.command);
  const scanned = scan(before, options);
  const place = { located, options, scanned, current };
  if (scanned.ended && located.command?.rest) return [{ value: FILES }];
  if (scanned.pending) return valuesOf(scanned.pending, current, asking(place, settings));
  if (current.startsWith('-') && !scanned.ended) return optionCandidates(place, settings);
  if (located.command === undefined) return nextOf(located, settings.registry);
  return operandCandidates(located.command, place, settings);
}

/** Words that lead further down from here. */
async function nextOf({ group, paths, words }: Located, registry: Registry): Promise<readonly Candidate[]> {
  if (group === undefined) return registry.map(({ name, summary }) => ({ value: name, means: summary }));
  const leaves = await group.leaves();
  return Promise.all(
    nextWords(words, paths).map(async value => {
      const path = [...words, value].join(' ');
      return { value, ...(paths.includes(path) && { means: (await leaves[path]?.())?.summary ?? '' }) };
    }),
  );
}

/** After `help`: its topics, and the words of every command. */
async function helpCandidates(located: Located, registry: Registry): Promise<readonly Candidate[]> {
  const topics = located.group === undefined ? await nextOf(await locate(['help'], registry), registry) : [];
  return [...topics, ...(await nextOf(located, registry))];
}

/** A half-typed line, as far as it is understood. */
interface Place {
  readonly located: Located;
  readonly options: readonly KnownOption[];
  readonly scanned: Scanned;
  readonly current: string;
}

type AskFor = (names: WantedName['names']) => Promise<readonly Candidate[]>;

/** An id of the service that begins like an option would be one, unless it stands behind `--`. */
function asking({ located, scanned }: Place, { provide }: CompletionSettings): AskFor {
  return async names => {
    const found = await provide({ names, command: located.command, options: scanned.used });
    return scanned.ended ? found : found.filter(({ value }) => !value.startsWith('-'));
  };
}

async function optionCandidates(place: Place, settings: CompletionSettings): Promise<readonly Candidate[]> {
  const { current, options, scanned } = place;
  const at = current.indexOf('=');
  if (at < 0) return unused(options, scanned);
  const [name, typed] = [current.slice(0, at), current.slice(at + 1)];
  const option = options.find(known => known.name === name && known.placeholder !== '');
  if (option === undefined) return [];
  const values = await valuesOf(option, typed, asking(place, settings));
  return values.map(found => (found.value === FILES ? found : { ...found, value: `${name}=${found.value}` }));
}

/**
 * Options not given yet; what may be given again stays. A key pressed in haste must not make a second card: shells insert
 * the only candidate, and put them into an order of their own, so an option that could is never among them.
 */
function unused(options: readonly KnownOption[], { used }: Scanned): readonly Candidate[] {
  return options
    .filter(({ name, repeats, typedOnly }) => !typedOnly && (repeats || !used.has(name)))
    .map(({ name, means }) => ({ value: name, means }));
}

async function operandCandidates(
  command: Command,
  place: Place,
  settings: CompletionSettings,
): Promise<readonly Candidate[]> {
  const { located, scanned, current } = place;
  const operands = scanned.operands.slice(located.words.length);
  const below = operands.length === 0 ? await nextOf(located, settings.registry) : [];
  const args = Object.entries(command.args);
  const last = args.at(-1);
  const [, argument] = args[operands.length] ?? (last?.[1].many ? last : []);
  if (argument?.field.local === 'file') return [{ value: FILES }];
  const values = argument === undefined ? [] : await fieldValues(argument.field, current, asking(place, settings));
  const found = [...below, ...values.filter(({ value }) => !operands.includes(value))];
  // Where an object must come next, options are no answer to what is asked, although none is known.
  const isNeeded = argument !== undefined && argument.optional !== true && args.length > operands.length;
  if (found.length > 0 || current !== '' || scanned.ended || isNeeded) return found;
  return unused(
    optionsOf(command).filter(({ field }) => field !== undefined),
    scanned,
  );
}

async function valuesOf(option: KnownOption, typed: string, ask: AskFor): Promise<readonly Candidate[]> {
  const { field, choices, names, placeholder } = option;
  if (field?.local === 'file' || /^<file\b/.test(placeholder)) return [{ value: FILES }];
  if (field === undefined) return choices?.map(value => ({ value })) ?? (names === undefined ? [] : ask(names));
  return [...wordsBeside(option), ...(await fieldValues(field, typed, ask))];
}

/** Words that stand for a value, as `auto` in `<bin|auto>`. */
function wordsBeside({ placeholder, choices, names }: KnownOption): readonly Candidate[] {
  if (choices !== undefined || names === undefined) return [];
  return placeholder
    .slice(1, -1)
    .split('|')
    .slice(1)
    .map(value => ({ value }));
}

/** Choices of a field, or what is known of the things it names; the part after the last comma for a list. */
async function fieldValues(field: AnyField, typed: string, ask: AskFor): Promise<readonly Candidate[]> {
  const { choices, names } = field.item ?? field;
  const found = choices?.map(value => ({ value })) ?? (names === undefined ? [] : await ask(names));
  if (field.kind !== 'list') return found;
  const head = typed.slice(0, typed.lastIndexOf(',') + 1);
  const taken = head.split(',');
  return found.filter(({ value }) => !taken.includes(value)).map(each => ({ ...each, value: head + each.value }));
}
