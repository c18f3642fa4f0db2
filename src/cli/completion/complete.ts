/**
 * Answers the shells (docs/design/terminal.md, "Completion"): `__complete bash "<line up to the cursor>"`, `__complete
 * zsh|fish <word>…` whose last word is under the cursor, `__complete powershell <the same words, NUL between them, in
 * base64>`. One candidate a line; `:files` alone asks the shell for file names.
 */
import type { Candidate, ValueProvider } from '../../app/completion.ts';
import type { AnyField } from '../../contract/field.ts';
import { withoutCardNumbers } from '../../core/card-numbers.ts';
import { withoutPatterns } from '../../core/redaction.ts';
import { printable } from '../../terminal/printable.ts';
import type { Registry } from '../parsing/declaration.ts';
import type { Flag } from '../parsing/flag.ts';
import { type Node, walk } from '../parsing/tree.ts';

interface CompletionSettings {
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
    // bash shows no meanings, so the commands are not loaded for them.
    const found = await candidates(words, settings, shell !== 'bash');
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

async function candidates(
  words: readonly string[],
  { registry, provide }: CompletionSettings,
  meanings: boolean,
): Promise<readonly Candidate[]> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { node, used, operands, pending, ended } = await walk(before, registry);
  const command = node.declared;

  /** Words that lead further down from there. */
  const nextOf = async (there: Node): Promise<readonly Candidate[]> => {
    if (there.group === undefined) return registry.map(({ name, summary }) => ({ value: name, means: summary }));
    if (!meanings) return there.below.map(value => ({ value }));
    return Promise.all(there.below.map(async value => ({ value, means: await there.summaryOf(value) })));
  };
  /** Choices of a field, or what is known of the things it names; the part after the last comma for a list. */
  const valuesOf = async (field: AnyField, typed: string): Promise<readonly Candidate[]> => {
    if (field.local === 'file') return [{ value: FILES }];
    const { choices, names } = field.item ?? field;
    const states = async () => (await import('../ids.ts')).statesFor(command?.operation);
    const known = async () =>
      names === undefined ? [] : await provide({ names, path: command?.path, states, options: used });
    const found = choices?.map(value => ({ value })) ?? (await known());
    // An id that begins like an option would be one, unless it stands behind `--`.
    const usable = ended ? found : found.filter(({ value }) => !value.startsWith('-'));
    if (field.kind !== 'list') return usable;
    const head = typed.slice(0, typed.lastIndexOf(',') + 1);
    const taken = head.split(',');
    return usable.filter(({ value }) => !taken.includes(value)).map(each => ({ ...each, value: head + each.value }));
  };
  const valuesOfFlag = async ({ field, placeholder, literals }: Flag, typed: string) => {
    if (/^<file\b/.test(placeholder)) return [{ value: FILES }];
    return [...literals.map(value => ({ value })), ...(await valuesOf(field, typed))];
  };
  /**
   * Options not given yet; what may be given again stays. A key pressed in haste must not make a second card: shells insert
   * the only candidate, and put them into an order of their own, so an option that could is never among them.
   */
  const unused = (options: readonly Flag[]) =>
    options
      .filter(({ name, repeats, typedOnly }) => !typedOnly && (repeats || !used.has(name)))
      .map(({ name, field }) => ({ value: name, means: field.doc }));

  if (ended && command?.rest) return [{ value: FILES }];
  if (pending) return valuesOfFlag(pending, current);
  if (current.startsWith('-') && !ended) {
    const at = current.indexOf('=');
    if (at < 0) return unused(node.known);
    const name = current.slice(0, at);
    const option = node.known.find(known => known.name === name && known.placeholder !== '');
    const values = option === undefined ? [] : await valuesOfFlag(option, current.slice(at + 1));
    return values.map(found => (found.value === FILES ? found : { ...found, value: `${name}=${found.value}` }));
  }
  if (command === undefined && node.group?.name === 'help') {
    // Its topics, and the words of every command.
    const asked = await walk(before.toSpliced(before.indexOf('help'), 1), registry);
    if (asked.operands.length > 0) return [];
    const topics = asked.node.group === undefined ? await nextOf(node) : [];
    return [...topics, ...(await nextOf(asked.node))];
  }
  const below = operands.length === 0 ? await nextOf(node) : [];
  if (command === undefined) return below;
  const last = command.args.at(-1);
  const argument = command.args[operands.length] ?? (last?.many ? last : undefined);
  const values = argument === undefined ? [] : await valuesOf(argument.field, current);
  const found = [...below, ...values.filter(({ value }) => !operands.includes(value))];
  // Where an object must come next, options are no answer to what is asked, although none is known.
  const isNeeded = argument !== undefined && argument.optional !== true && command.args.length > operands.length;
  if (found.length > 0 || current !== '' || ended || isNeeded) return found;
  return unused(node.own);
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
