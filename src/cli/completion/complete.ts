/**
 * Answers the shells (docs/design/terminal.md, "Completion"): `__complete bash "<line up to the cursor>"`, `__complete
 * zsh|fish <word>…` whose last word is under the cursor, `__complete powershell <the same words, NUL between them, in
 * base64>`. One candidate a line; `:files` alone asks the shell for file names.
 */
import type { Candidate, ValueProvider, WantedName } from '../../app/completion.ts';
import type { AnyField } from '../../contract/field.ts';
import { withoutCardNumbers } from '../../core/card-numbers.ts';
import { withoutPatterns } from '../../core/redaction.ts';
import { printable } from '../../terminal/printable.ts';
import type { Registry } from '../parsing/declaration.ts';
import type { Flag } from '../parsing/flag.ts';
import { type Node, type Walked, walk } from '../parsing/tree.ts';

interface CompletionSettings {
  readonly registry: Registry;
  readonly provide: ValueProvider;
}
type Asked = CompletionSettings & { readonly meanings: boolean };

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
    // bash shows no meanings, so the commands are not loaded for them.
    const found = await candidates(words, { ...settings, meanings: shell !== 'bash' });
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
  if (shell !== 'powershell') return rest;
  return Buffer.from(rest[0] ?? '', 'base64')
    .toString()
    .split('\0');
}

/** Labels are people's own text; what looks like a secret in one is not put on a screen by a key press. */
const open = (text: string) => withoutCardNumbers(withoutPatterns(text));

function lineFor(shell: string, { value, means }: Candidate): string {
  if (shell === 'bash' || means === undefined || means === '') return value;
  return `${value}\t${printable(open(means.replace(/\.$/, '')))}`;
}

async function candidates(words: readonly string[], settings: Asked): Promise<readonly Candidate[]> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const line = await walk(before, settings.registry);
  const { node, pending, ended, operands } = line;
  const command = node.declared;
  const place = { line, current, ask: asking(line, settings) };
  if (ended && command?.rest) return [{ value: FILES }];
  if (pending) return valuesOf(pending, current, place.ask);
  if (current.startsWith('-') && !ended) return optionCandidates(place);
  if (node.group?.name === 'help' && command === undefined) return helpCandidates(before, node, settings);
  if (command === undefined) return operands.length > 0 ? [] : nextOf(node, settings);
  return operandCandidates(place, settings);
}

/** Words that lead further down from here. */
async function nextOf(node: Node, { registry, meanings }: Asked): Promise<readonly Candidate[]> {
  if (node.group === undefined) return registry.map(({ name, summary }) => ({ value: name, means: summary }));
  if (!meanings) return node.below.map(value => ({ value }));
  return Promise.all(
    node.below.map(async value => {
      const summary = await node.summaryOf(value);
      return { value, ...(summary !== undefined && { means: summary }) };
    }),
  );
}

/** After `help`: its topics, and the words of every command. */
async function helpCandidates(before: readonly string[], help: Node, asked: Asked): Promise<readonly Candidate[]> {
  const { node, operands } = await walk(before.toSpliced(before.indexOf('help'), 1), asked.registry);
  if (operands.length > 0) return [];
  const topics = node.group === undefined ? await nextOf(help, asked) : [];
  return [...topics, ...(await nextOf(node, asked))];
}

/** A half-typed line, as far as it is understood. */
interface Place {
  readonly line: Walked;
  readonly current: string;
  readonly ask: AskFor;
}

type AskFor = (names: WantedName['names']) => Promise<readonly Candidate[]>;

/** An id of the service that begins like an option would be one, unless it stands behind `--`. */
function asking({ node, used, ended }: Walked, { provide }: CompletionSettings): AskFor {
  return async names => {
    const command = node.declared;
    const found = await provide({
      names,
      path: command?.path,
      states: async () => (await import('../ids.ts')).statesFor(command?.operation),
      options: used,
    });
    return ended ? found : found.filter(({ value }) => !value.startsWith('-'));
  };
}

async function optionCandidates({ current, line, ask }: Place): Promise<readonly Candidate[]> {
  const at = current.indexOf('=');
  if (at < 0) return unused(line.node.known, line);
  const [name, typed] = [current.slice(0, at), current.slice(at + 1)];
  const option = line.node.known.find(known => known.name === name && known.placeholder !== '');
  if (option === undefined) return [];
  const values = await valuesOf(option, typed, ask);
  return values.map(found => (found.value === FILES ? found : { ...found, value: `${name}=${found.value}` }));
}

/**
 * Options not given yet; what may be given again stays. A key pressed in haste must not make a second card: shells insert
 * the only candidate, and put them into an order of their own, so an option that could is never among them.
 */
function unused(options: readonly Flag[], { used }: Walked): readonly Candidate[] {
  return options.flatMap(({ name, field, repeats, typedOnly }) =>
    typedOnly || (used.has(name) && !repeats) ? [] : [{ value: name, means: field.doc }],
  );
}

async function operandCandidates({ line, current, ask }: Place, asked: Asked): Promise<readonly Candidate[]> {
  const { node, operands, ended } = line;
  const below = operands.length === 0 ? await nextOf(node, asked) : [];
  const args = node.declared?.args ?? [];
  const last = args.at(-1);
  const argument = args[operands.length] ?? (last?.many ? last : undefined);
  if (argument?.field.local === 'file') return [{ value: FILES }];
  const values = argument === undefined ? [] : await fieldValues(argument.field, current, ask);
  const found = [...below, ...values.filter(({ value }) => !operands.includes(value))];
  // Where an object must come next, options are no answer to what is asked, although none is known.
  const isNeeded = argument !== undefined && argument.optional !== true && args.length > operands.length;
  if (found.length > 0 || current !== '' || ended || isNeeded) return found;
  return unused(node.own, line);
}

async function valuesOf({ field, placeholder, literals }: Flag, typed: string, ask: AskFor) {
  if (field.local === 'file' || /^<file\b/.test(placeholder)) return [{ value: FILES }];
  return [...literals.map(value => ({ value })), ...(await fieldValues(field, typed, ask))];
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

/** Pieces of a word: in double quotes, in single ones, behind a backslash, and plain. */
const WORD = /(?:"(?:\\.|[^"\\])*"?|'[^']*'?|\\.?|[^ \t\n"'\\])+/gs;
const QUOTED = /"((?:\\.|[^"\\])*)"?|'([^']*)'?|\\(.?)/gs;

/** Words up to the end of the line; the last one, perhaps empty, stands under the cursor. A quote may be open. */
export function tokenize(line: string): string[] {
  const found = [...line.matchAll(WORD)];
  const last = found.at(-1);
  const words = found.map(([word]) =>
    // Between double quotes a backslash is itself before most characters.
    word.replace(QUOTED, (_, double?: string, single?: string, escaped = '') =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, '$1'),
    ),
  );
  return last !== undefined && last.index + last[0].length === line.length ? words : [...words, ''];
}
