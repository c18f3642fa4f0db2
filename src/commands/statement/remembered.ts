/** What was exported before: a later export of the same period tells what has come since. */
import { createHash, type Hash } from 'node:crypto';
import type { Statement } from '../../books/statement-model.ts';
import type { Context } from '../../cli/context.ts';
import { SECOND } from '../../core/durations.ts';
import { isoTime } from '../../core/iso-time.ts';
import type { ExportWish } from '../../writers/files.ts';
import type { Piece } from '../../writers/piece.ts';
import type { StatementQuery } from './query.ts';

export interface Kept {
  readonly period: string;
  readonly format: string;
  readonly final: boolean;
  readonly lines: number;
  /** Lines more than before, negative for fewer; null for the first one. */
  readonly more: number | null;
  /** ISO 8601 UTC of the one before. */
  readonly since: string | null;
  /** Lines that nothing proves yet, and that are in no file. */
  readonly left_out: number;
  /** As many lines as before may hold other ones. */
  readonly differs: boolean;
  readonly files: readonly ExportedFile[];
}

export interface ExportedFile {
  /** Path as the user would write it; empty for what was printed. */
  readonly file: string;
  readonly lines: number;
  readonly sha256: string;
}

/** What was written, counted while it goes by. */
export class ExportCount {
  /** Of all files together, from the second one on: of one file its own hash says it. */
  #all: Hash | undefined;
  readonly #files: { file: string; lines: number; hash: Hash }[] = [];

  /** The texts of the next file. */
  *file(pieces: Iterable<Piece>): Generator<string> {
    const hash = createHash('sha256');
    const file = { file: '', lines: 0, hash };
    this.#all ??= this.#files[0]?.hash.copy();
    this.#files.push(file);
    for (const { text, lines } of pieces) {
      hash.update(text);
      this.#all?.update(text);
      file.lines += lines;
      yield text;
    }
  }

  /** Where the newest file stands. */
  named(path: string): void {
    const file = this.#files.at(-1);
    if (file !== undefined) file.file = path;
  }

  /** Call it once, at the end. */
  done(): { readonly sha256: string; readonly files: readonly ExportedFile[] } {
    const all = this.#all ?? this.#files[0]?.hash.copy() ?? createHash('sha256');
    const files = this.#files.map(({ file, lines, hash }) => ({ file, lines, sha256: hash.digest('hex') }));
    return { sha256: all.digest('hex'), files };
  }
}

interface Exported {
  readonly statement: Statement;
  readonly written: ExportCount;
  readonly asked: StatementQuery;
  readonly wish: ExportWish;
  readonly left_out: number;
}

/** Keeps the export in the mirror, and compares it with the one before. */
export async function remembered(ctx: Context, { statement, written, asked, wish, left_out }: Exported): Promise<Kept> {
  const { format, layout } = wish;
  const { sha256, files } = written.done();
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const row = {
    // Days of another zone are another period.
    period: [asked.period, ...(asked.tz === undefined || asked.tz === 'UTC' ? [] : [asked.tz])].join(' '),
    format: layout === 'plain' ? format : `${format} ${layout}`,
    account: asked.card ?? (asked.label === undefined ? 'all' : `label ${asked.label}`),
    lines,
    sha256,
    at_ms: Math.floor(ctx.serviceNow() / SECOND) * SECOND,
  };
  const mirror = await ctx.mirror();
  const before = await mirror.keepExport(row);
  return {
    period: asked.period,
    format,
    final: statement.final,
    lines,
    more: before === undefined ? null : lines - before.lines,
    since: before === undefined ? null : isoTime(before.at_ms),
    left_out,
    differs: before !== undefined && before.sha256 !== sha256,
    files,
  };
}

/** What a person is told of an export. */
export function noticesOf(kept: Kept): readonly string[] {
  const { period, format, left_out } = kept;
  const changed = changedSince(kept);
  const lines = left_out === 1 ? '1 line is' : `${left_out} lines are`;
  const leftOut = `${period}: ${lines} left out of ${format}: nothing proves them yet, and an import would book them again after the next reconcile`;
  return [...(left_out === 0 ? [] : [leftOut]), ...(changed === undefined ? [] : [changed])];
}

function changedSince({ period, more, since, differs }: Kept): string | undefined {
  if (more === null || since === null || !differs) return undefined;
  const day = since.slice(0, 10);
  if (more === 0) return `${period}: as many lines as on ${day}, and not the same text`;
  const count = Math.abs(more);
  return `${period}: ${count} ${count === 1 ? 'line' : 'lines'} ${more > 0 ? 'more' : 'fewer'} than on ${day}`;
}
