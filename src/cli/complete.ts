/**
 * Answers the shells (TERMINAL.md, "Completion"): `__complete bash "<line up to the cursor>"`, or `__complete zsh|fish
 * <word>…` whose last word is under the cursor. One candidate a line; `:files` alone asks the shell for file names.
 */
import type { AnyField } from '../contract/field.ts';
import { printable } from '../terminal/printable.ts';
import type { Command, Registry } from './command.ts';
import { asHelp, type Located, locate, nextWords } from './locate.ts';
import { optionsOf } from './resolved-flags.ts';
import { GLOBAL_OPTIONS, type KnownOption, type Scanned, scan } from './scan.ts';
import { tokenize } from './tokenize.ts';

export interface Candidate {
  readonly value: string;
  /** Shown beside it by zsh and fish. */
  readonly means?: string;
}

/** Candidates for a field by what its values name: `card`, `event`. Empty when nothing is known; never asks anybody. */
export type ValueProvider = (names: NonNullable<AnyField['names']>) => Promise<readonly Candidate[]>;

export interface CompletionSettings {
  readonly registry: Registry;
  readonly provide: ValueProvider;
}

const SHELLS = ['bash', 'zsh', 'fish'];
const FILES = ':files';
/** bash inserts a candidate as it is, so one with `$(…)` would run at Enter. */
const HARMLESS = /^[A-Za-z0-9._:@/+=,-]+$/;

/** What to print for the words after `__complete`; empty when nothing fits. Never rejects. */
export async function completionText(args: readonly string[], settings: CompletionSettings): Promise<string> {
  const [shell = '', ...rest] = args;
  if (!SHELLS.includes(shell)) return '';
  const words = shell === 'bash' ? tokenize(rest[0] ?? '').slice(1) : rest;
  try {
    const found = await candidates(words, settings);
    if (found.some(({ value }) => value === FILES)) return `${FILES}\n`;
    const current = words.at(-1) ?? '';
    const fitting = found.filter(({ value }) => value.startsWith(current) && HARMLESS.test(value));
    return fitting.map(candidate => `${lineFor(shell, candidate)}\n`).join('');
  } catch {
    // A line that leads nowhere has no candidates, and TAB is no place for an error message.
    return '';
  }
}

function lineFor(shell: string, { value, means }: Candidate): string {
  return shell === 'bash' || means === undefined ? value : `${value}\t${printable(means.replace(/\.$/, ''))}`;
}

async function candidates(words: readonly string[], settings: CompletionSettings): Promise<readonly Candidate[]> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { argv, asksHelp } = await asHelp(before, settings.registry);
  const located = await locate(argv, settings.registry);
  if (asksHelp) return helpCandidates(located, settings.registry);
  const options = located.command === undefined ? GLOBAL_OPTIONS : optionsOf(located.command);
  const scanned = scan(before, options);
  if (scanned.pending) return valuesOf(scanned.pending, current, settings.provide);
  if (current.startsWith('-') && !scanned.ended) return optionCandidates(current, { options, scanned }, settings);
  if (located.command === undefined) return nextOf(located, settings.registry);
  return operandCandidates(located.command, { located, scanned, current }, settings);
}

/** Words that lead further down from here. */
function nextOf({ group, commands, words }: Located, registry: Registry): readonly Candidate[] {
  if (group === undefined) return registry.map(({ name, summary }) => ({ value: name, means: summary }));
  return nextWords(words, commands).map(value => {
    const means = commands.find(({ path }) => path === [...words, value].join(' '))?.summary;
    return { value, ...(means === undefined ? {} : { means }) };
  });
}

/** After `help`: its topics, and the words of every command. */
async function helpCandidates(located: Located, registry: Registry): Promise<readonly Candidate[]> {
  const topics = located.group === undefined ? nextOf(await locate(['help'], registry), registry) : [];
  return [...topics, ...nextOf(located, registry)];
}

interface Options {
  readonly options: readonly KnownOption[];
  readonly scanned: Scanned;
}

async function optionCandidates(
  current: string,
  { options, scanned }: Options,
  { provide }: CompletionSettings,
): Promise<readonly Candidate[]> {
  const at = current.indexOf('=');
  if (at < 0) return unused(options, scanned);
  const [name, typed] = [current.slice(0, at), current.slice(at + 1)];
  const option = options.find(known => known.name === name && known.placeholder !== '');
  if (option === undefined) return [];
  const values = await valuesOf(option, typed, provide);
  return values.map(found => (found.value === FILES ? found : { ...found, value: `${name}=${found.value}` }));
}

/** Options not given yet; what may be given again stays. */
function unused(options: readonly KnownOption[], { used }: Scanned): readonly Candidate[] {
  return options
    .filter(({ name, repeats }) => repeats || !used.has(name))
    .map(({ name, means }) => ({ value: name, means }));
}

interface Place {
  readonly located: Located;
  readonly scanned: Scanned;
  readonly current: string;
}

async function operandCandidates(
  command: Command,
  { located, scanned, current }: Place,
  { registry, provide }: CompletionSettings,
): Promise<readonly Candidate[]> {
  const operands = scanned.operands.slice(located.words.length);
  const below = operands.length === 0 ? nextOf(located, registry) : [];
  const args = Object.values(command.args);
  const last = args.at(-1);
  const argument = args[operands.length] ?? (last?.many ? last : undefined);
  const values = argument === undefined ? [] : await fieldValues(argument.field, current, provide);
  const found = [...below, ...values.filter(({ value }) => !operands.includes(value))];
  if (found.length > 0 || current !== '' || scanned.ended) return found;
  return unused(
    optionsOf(command).filter(({ field }) => field !== undefined),
    scanned,
  );
}

async function valuesOf(
  { field, choices, placeholder }: KnownOption,
  typed: string,
  provide: ValueProvider,
): Promise<readonly Candidate[]> {
  if (placeholder === '<file>') return [{ value: FILES }];
  if (field !== undefined) return fieldValues(field, typed, provide);
  return (choices ?? []).map(value => ({ value }));
}

/** Choices of a field, or what is known of the things it names; the part after the last comma for a list. */
async function fieldValues(field: AnyField, typed: string, provide: ValueProvider): Promise<readonly Candidate[]> {
  const { choices, names } = field.item ?? field;
  const found = choices?.map(value => ({ value })) ?? (names === undefined ? [] : await provide(names));
  if (field.kind !== 'list') return found;
  const head = typed.slice(0, typed.lastIndexOf(',') + 1);
  const taken = head.split(',');
  return found.filter(({ value }) => !taken.includes(value)).map(each => ({ ...each, value: head + each.value }));
}
