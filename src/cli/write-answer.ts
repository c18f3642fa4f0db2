/** The answer of a command in the format that was asked for. */
import { wholeSeconds } from '../core/durations.ts';
import type { Host } from '../platform/host.ts';
import type { JqFilter } from '../terminal/jq-filter.ts';
import type { Block, Presentation } from '../terminal/view.ts';
import type { Command } from './parsing/command.ts';
import type { Globals } from './parsing/globals.ts';
import type { Shown } from './shown.ts';

/** What a command returned, and what was asked of its form. */
export interface Answer {
  readonly shown: Shown;
  readonly jq: JqFilter | undefined;
  /** Undefined where no field was asked for, or nobody promised any. */
  readonly promised: Iterable<string> | undefined;
  /** The clock of the service, ms UTC; asked when ages are written, for the rows tell it. */
  readonly now: () => number;
}

/** Whether fields were named by `--fields`, `--columns` or `--sort`. */
export function namesFields({ fields, columns, sort }: Globals): boolean {
  return fields !== undefined || columns !== undefined || sort !== undefined;
}

/** The fields that the answer of a command promises; undefined where none was named. */
export async function promisedFields(
  command: Command,
  globals: Globals,
  typed: Readonly<Record<string, unknown>>,
): Promise<Iterable<string> | undefined> {
  if (!namesFields(globals)) return undefined;
  const { fieldNames } = await import('./docs/answers.ts');
  const { rowSource } = await import('./bulk/flags.ts');
  const fromFile = command.runFlags !== undefined && rowSource(typed) !== undefined;
  return fieldNames(command, { dryRun: globals.dryRun, fromFile });
}

/** Writes it to standard output. Rejects with `OutputError` where that fails. */
export async function writeAnswer(host: Host, globals: Globals, { shown, jq, promised, now }: Answer): Promise<void> {
  const { verbatim, prose, failure: _failure, exit: _exit, goesOn: _goesOn, ...presentation } = shown;
  const text = jq === undefined ? (verbatim ?? (readsAsPage(globals) ? prose : undefined)) : undefined;
  if (text !== undefined || verbatim === '') return host.streams.stdout.write(text ?? '');
  const { present } = await import('../terminal/present.ts');
  const { format, byName, fields, columns, sort, quiet, accessible, csvRaw, colour } = globals;
  const chosen = {
    ...(fields && { fields }),
    ...(columns && { columns }),
    ...(sort !== undefined && { sort }),
    ...(promised && { promised }),
  };
  const filter = jq === undefined ? {} : { jq: (value: unknown) => jq.apply(value) };
  const settings = {
    ...{ format, byName, quiet, accessible, csvRaw, colour, ...chosen, ...filter },
    get now() {
      return wholeSeconds(now());
    },
  };
  // Text that is the answer as it stands is, to an expression, a string.
  const written = verbatim === undefined ? presentation : { ...presentation, data: verbatim.replace(/\n$/, '') };
  await present((await withOptions(written, globals)) as Presentation, settings, host.streams, host.env);
}

type Told = Pick<Shown, 'notes' | 'data' | 'rows' | 'blocks'>;

/** An answer shows what to run next: here with the options that choose the same service. */
async function withOptions<T extends Told>(shown: T, { repeated }: Globals): Promise<T> {
  if (repeated.length === 0) return shown;
  const { answerWithRepeated, withRepeated } = await import('./repeated.ts');
  const { notes, data, rows, blocks } = shown;
  const repeatedIn = <Part>(part: Part) => answerWithRepeated(part, repeated) as Part;
  return {
    ...shown,
    ...(notes && { notes: notes.map(note => withRepeated(note, repeated)) }),
    ...(data !== undefined && { data: repeatedIn(data) }),
    ...(rows && { rows: { ...rows, rows: repeatedIn(rows.rows) } }),
    ...(blocks && {
      blocks: blocks.map(block => blockWith(block, { repeatedIn, line: text => withRepeated(text, repeated) })),
    }),
  };
}

/** Rows of a table and whole lines hold commands; every other line is a text. */
function blockWith(
  block: Block,
  { repeatedIn, line }: { readonly repeatedIn: <Part>(part: Part) => Part; readonly line: (text: string) => string },
): Block {
  if (block.kind === 'table') return { ...block, rows: repeatedIn(block.rows) };
  return block.kind === 'line' && block.whole === true ? { ...block, text: line(block.text) } : block;
}

/** Nothing was said about how the answer should look. */
function readsAsPage({ format, fields, columns, sort }: Globals): boolean {
  return format === 'table' && fields === undefined && columns === undefined && sort === undefined;
}
