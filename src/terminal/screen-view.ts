/** What a person sees on a terminal: tables, pairs, records, and the hints beside them on stderr. */
import { BAR_COLUMN, bars } from './bars.ts';
import { humanCell, plainText } from './cells.ts';
import { colourLevel, painter } from './colour.ts';
import { fitted } from './conversation.ts';
import { fold } from './fold.ts';
import { collectRows, type Job } from './job.ts';
import type { Sheet } from './layout.ts';
import { fitSheet } from './layout.ts';
import { printable } from './printable.ts';
import { type Pair, pairLines, pairsOf, recordLines, recordsLines, spokenPairLines } from './records.ts';
import { columnsFor, columnsNamed, rowsOf, valueAt } from './rows.ts';
import { ellipsisFor, NARROWEST_TABLE, screenWidth, showsUnicode } from './screen.ts';
import { drawTable, type Pen } from './table.ts';
import type { Block, Column, Row } from './view.ts';
import { createMeasure } from './width.ts';

interface Screen extends Pen {
  readonly columns: number;
  readonly job: Job;
}

async function openScreen(job: Job): Promise<Screen> {
  const { env, settings, streams } = job;
  const level = colourLevel({ choice: settings.colour, env, stream: streams.stdout });
  return {
    job,
    columns: screenWidth(env, streams.stdout),
    paint: await painter(level),
    measure: await createMeasure(ellipsisFor(env)),
  };
}

/** Shows the result on stdout; the footer and the notes go to stderr when somebody reads there. */
export async function showOnScreen(job: Job): Promise<void> {
  const { presentation } = job;
  if (presentation.listing?.line !== undefined) return showLive(job);
  const rows = await collectRows(job);
  const screen = await openScreen(job);
  if (presentation.listing !== undefined) return showListing(rows, screen);
  const lines = await resultLines(rows, screen);
  await writeLines(job, lines);
  await hint(job, presentation.notes ?? []);
}

async function showListing(rows: readonly Row[], screen: Screen): Promise<void> {
  const { job } = screen;
  const { listing, noun } = job.presentation;
  const footer = listing?.footer?.(rows.length);
  if (rows.length === 0) return hint(job, [footer ?? `No ${noun} to show.`]);
  const { lines, hidden } = await rowLines(rows, job.presentation.columns, screen);
  await writeLines(job, lines);
  await hint(job, [[footer, hidden].filter(Boolean).join('   '), ...(job.presentation.notes ?? [])]);
}

/** Lines are added and nothing is repainted, so that scrolling back and screen readers work. */
async function showLive(job: Job): Promise<void> {
  const { presentation, settings, streams } = job;
  const { columns, listing } = presentation;
  const named = settings.columns ?? settings.fields;
  const shown = named === undefined ? columns : columnsNamed(named, columns);
  const style = { now: settings.now, absoluteTimes: true, spoken: settings.accessible };
  let count = 0;
  for await (const rows of listing?.batches ?? []) {
    if (streams.stdout.closed) return;
    count += rows.length;
    const asLine = (row: Row) => [printable(listing?.line?.(row) ?? '')];
    const asFields = (row: Row) => ['', ...recordLines(row, shown, style)];
    await writeLines(job, rows.flatMap(named === undefined && !settings.accessible ? asLine : asFields));
  }
  await hint(job, [listing?.footer?.(count) ?? '']);
}

async function resultLines(rows: readonly Row[], screen: Screen): Promise<readonly string[]> {
  const { presentation, settings } = screen.job;
  const { blocks, columns, data } = presentation;
  const named = settings.columns ?? settings.fields;
  if (blocks !== undefined && named === undefined) return blockLines(blocks, screen);
  if (typeof data === 'string') return [printable(data)];
  if (Array.isArray(data)) return (await rowLines(rows, columns, screen)).lines;
  const options = { now: settings.now, absoluteTimes: settings.format === 'wide' };
  return rowsOf(data).flatMap(row => {
    const shown = named === undefined ? columnsFor(columns, [row]) : columnsNamed(named, columns);
    if (settings.accessible) return recordLines(row, shown, { ...options, spoken: true });
    return pairsOnScreen(pairsOf(row, shown, options), '', screen);
  });
}

async function blockLines(blocks: readonly Block[], screen: Screen): Promise<readonly string[]> {
  const { accessible } = screen.job.settings;
  const lines: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.kind === 'line') lines.push(...sentence(block, screen));
    else if (block.kind === 'qr') lines.push(...(await drawnCode(block.text, screen)));
    else if (block.kind === 'table') lines.push(...(await rowLines(block.rows, block.columns, screen)).lines);
    else if (accessible) lines.push(...spokenPairLines(block.pairs));
    else {
      // Pairs below a sentence belong to it.
      const indent = blocks[index - 1]?.kind === 'line' ? '  ' : '';
      lines.push(...pairsOnScreen(block.pairs, indent, screen));
    }
  }
  return lines;
}

function sentence({ text, whole }: Extract<Block, { kind: 'line' }>, screen: Screen): readonly string[] {
  const isBroken = screen.job.streams.stdout.isTerminal && whole !== true;
  return isBroken ? folded(printable(text), 2, screen) : [printable(text)];
}

function pairsOnScreen(pairs: readonly Pair[], indent: string, screen: Screen): readonly string[] {
  const labels = pairs.map(([label]) => screen.measure.width(printable(label)));
  const below = indent.length + Math.max(0, ...labels) + 2;
  return pairLines(pairs, screen.measure).flatMap(line => folded(indent + line, below, screen));
}

function folded(line: string, indent: number, { columns: cells, measure }: Screen): readonly string[] {
  return fold(line, { cells, indent, measure });
}

async function drawnCode(text: string, { columns, job }: Screen): Promise<readonly string[]> {
  const { qrLines } = await import('./qr.ts');
  const lines = qrLines(text, { columns, unicode: showsUnicode(job.env) });
  return lines ?? ['(this screen is too narrow for the QR code)'];
}

interface ShownRows {
  readonly lines: readonly string[];
  /** How to see the columns that are not shown. */
  readonly hidden?: string;
}

function tableColumns(rows: readonly Row[], columns: readonly Column[], { job }: Screen): readonly Column[] {
  const { settings } = job;
  const named = settings.columns ?? settings.fields;
  if (named !== undefined) return columnsNamed(named, columns);
  return columnsFor(columns, rows).filter(column => settings.format === 'wide' || column.wideOnly !== true);
}

async function rowLines(rows: readonly Row[], all: readonly Column[], screen: Screen): Promise<ShownRows> {
  if (rows.length === 0) return { lines: [] };
  const { settings, presentation } = screen.job;
  const columns = tableColumns(rows, all, screen);
  const options = { now: settings.now, absoluteTimes: settings.format === 'wide' };
  const toldBelow = columns.flatMap(({ below }) =>
    all.filter(({ field }) => field === below && !columns.some(shown => shown.field === field)),
  );
  const cell = (column: Column, row: Row) => {
    const own = humanCell(column, valueAt(row, column.field), options);
    const next = toldBelow.find(({ field }) => field === column.below);
    const value = next === undefined ? '' : plainText(valueAt(row, next.field));
    return value === '' ? own : `${own}\ntry: ${printable(value)}`;
  };
  const cells = () => rows.map(row => columns.map(column => cell(column, row)));
  const tabular = !settings.accessible && screen.columns >= NARROWEST_TABLE;
  const drawn = () => withBars({ columns, rows: cells() }, rows, screen);
  const sheet = tabular ? fitSheet(drawn(), screen.columns, screen.measure) : undefined;
  if (sheet === undefined) {
    const style = { ...options, noun: presentation.noun, spoken: settings.accessible };
    const records = recordsLines(rows, [...columns, ...toldBelow], style);
    return { lines: settings.accessible ? records : records.flatMap(line => folded(line, 2, screen)) };
  }
  const lines = await drawTable(sheet, screen);
  const dropped = sheet.dropped.filter(title => title !== BAR_COLUMN.title);
  if (settings.format === 'wide') {
    return dropped.length === 0 ? { lines } : { lines, hidden: `Not shown, too narrow: ${dropped.join(', ')}` };
  }
  if (settings.columns !== undefined || settings.fields !== undefined) return { lines };
  const shown = new Set([...sheet.columns.map(({ column }) => column), ...toldBelow]);
  // Columns that are empty in every row are nothing to look for.
  const more = all.some(column => !shown.has(column) && rows.some(row => plainText(valueAt(row, column.field)) !== ''));
  return more ? { lines, hidden: 'More columns: -o wide' } : { lines };
}

/** The sheet with a bar a row, beside its number; only as long as that number is shown itself. */
function withBars(sheet: Sheet, rows: readonly Row[], { job }: Screen): Sheet {
  const field = job.presentation.bars;
  const at = sheet.columns.findIndex(column => column.field === field) + 1;
  if (field === undefined || at === 0) return sheet;
  const drawn = bars(
    rows.map(row => valueAt(row, field)),
    { unicode: showsUnicode(job.env) },
  );
  return {
    columns: sheet.columns.toSpliced(at, 0, BAR_COLUMN),
    rows: sheet.rows.map((row, index) => row.toSpliced(at, 0, drawn[index] ?? '')),
  };
}

async function writeLines({ streams }: Job, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await streams.stdout.write(`${lines.join('\n')}\n`);
}

async function hint({ env, settings, streams }: Job, said: readonly string[]): Promise<void> {
  const shown = said.filter(line => line !== '');
  if (settings.quiet || !streams.stderr.isTerminal || streams.stdout.closed || shown.length === 0) return;
  const cells = screenWidth(env, streams.stderr);
  const lines = shown.flatMap(line => fitted(printable(line), cells));
  await streams.stderr.write(lines.map(line => `${line}\n`).join(''));
}
