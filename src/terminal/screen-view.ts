/** What a person sees on a terminal: tables, pairs, records, and the hints beside them on stderr. */

import { isoTime } from '../core/durations.ts';
import { centsOf } from '../core/money.ts';
import { type HumanCells, humanCell, plainText, shortIds, spokenCell, spokenName } from './cells.ts';
import { createMeasure, fitted, fold } from './fold.ts';
import { printable } from './printable.ts';
import { askedColumns, collectRows, columnsFor, type Job, noteCut, rowsOf, valueAt } from './rows.ts';
import { colourLevel, ellipsisFor, NARROWEST_TABLE, pageWidth, painter, screenWidth, showsUnicode } from './screen.ts';
import { drawTable, type FittedSheet, fitSheet, type Pen, type Sheet } from './table.ts';
import { parseTimestamp, relativeTime } from './times.ts';
import type { Block, Column, Point, Row } from './view.ts';

interface Screen extends Pen {
  readonly columns: number;
  readonly job: Job;
}

/** Shows the result on stdout; the footer and the notes go to stderr when somebody reads there. */
export async function showOnScreen(job: Job): Promise<void> {
  const { presentation } = job;
  if (presentation.listing?.isLive) return showLive(job);
  const rows = await collectRows(job);
  const { env, settings, streams } = job;
  const screen: Screen = {
    job,
    columns: pageWidth(env, streams.stdout),
    paint: await painter(colourLevel({ choice: settings.colour, env, stream: streams.stdout })),
    measure: await createMeasure(ellipsisFor(env)),
  };
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
  if (!job.streams.stderr.isTerminal) await noteCut(job);
  await hint(job, [[footer, hidden].filter(Boolean).join('   '), ...(job.presentation.notes ?? [])]);
}

/** Lines are added and nothing is repainted, so that scrolling back and screen readers work. */
async function showLive(job: Job): Promise<void> {
  const { presentation, settings, streams } = job;
  const { columns, listing } = presentation;
  const named = askedColumns(settings, columns);
  const style = { now: settings.now, absoluteTimes: true, spoken: settings.accessible };
  let count = 0;
  for await (const rows of listing?.batches ?? []) {
    if (streams.stdout.closed) return;
    count += rows.length;
    const asLine = (row: Row) => [lineOf(row, columns, ellipsisFor(job.env), style)];
    const asFields = (row: Row) => ['', ...recordLines(row, named ?? columns, style)];
    await writeLines(job, rows.flatMap(named === undefined && !settings.accessible ? asLine : asFields));
  }
  await hint(job, [listing?.footer?.(count) ?? '']);
}

/** What the columns of a table say of one row, but for what is not there. */
function lineOf(row: Row, columns: readonly Column[], ellipsis: string, style: HumanCells): string {
  const cells = columns.flatMap(column => {
    const value = valueAt(row, column.field);
    if (column.wideOnly || plainText(value) === '' || value === false) return [];
    const short = column.shortTo && shortIds([plainText(value)], column.shortTo, ellipsis).get(plainText(value));
    return short ?? humanCell(column, value, style);
  });
  return cells.join('  ');
}

async function resultLines(rows: readonly Row[], screen: Screen): Promise<readonly string[]> {
  const { presentation, settings } = screen.job;
  const { blocks, columns, data } = presentation;
  const named = askedColumns(settings, columns);
  if (blocks !== undefined && named === undefined) return blockLines(blocks, screen);
  if (typeof data === 'string') return [printable(data)];
  if (Array.isArray(data)) return (await rowLines(rows, columns, screen)).lines;
  const options = { now: settings.now, absoluteTimes: settings.format === 'wide' };
  return rowsOf(data).flatMap(row => {
    const shown = named ?? columnsFor(columns, [row]).filter(({ programOnly }) => programOnly !== true);
    if (settings.accessible) return recordLines(row, shown, { ...options, spoken: true });
    return pairsOnScreen(pairsOf(row, shown, options), '', screen);
  });
}

async function blockLines(blocks: readonly Block[], screen: Screen): Promise<readonly string[]> {
  const { job } = screen;
  const { accessible } = job.settings;
  const lines: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.kind === 'line') {
      const text = printable(block.text);
      lines.push(...(job.streams.stdout.isTerminal && block.whole !== true ? folded(text, 2, screen) : [text]));
    } else if (block.kind === 'qr') {
      const { qrLines } = await import('./qr.ts');
      const code = qrLines(block.text, { columns: screen.columns, unicode: showsUnicode(job.env) });
      lines.push(...(code ?? ['(this screen is too narrow for the QR code)']));
    } else if (block.kind === 'table') lines.push(...(await rowLines(block.rows, block.columns, screen)).lines);
    else if (accessible) {
      // A screen reader passes over a dash.
      const said = (value: string) => (value === '-' ? 'none' : printable(value).replace(/ {2,}/g, ', '));
      const pairs = withCourses(block.pairs, screen);
      lines.push(...pairs.map(([label, value]) => `${printable(label).toLowerCase()}: ${said(value)}`));
    } else {
      // Pairs below a sentence belong to it.
      const indent = blocks[index - 1]?.kind === 'line' ? '  ' : '';
      lines.push(...pairsOnScreen(withCourses(block.pairs, screen), indent, screen));
    }
  }
  return lines;
}

/** Pairs whose courses are drawn before their texts; a screen reader gets the texts. */
function withCourses(
  pairs: Extract<Block, { kind: 'pairs' }>['pairs'],
  { job: { env, settings } }: Screen,
): readonly Pair[] {
  return pairs.map(([label, value]): Pair => {
    if (typeof value === 'string') return [label, value];
    if (settings.accessible) return [label, value.text];
    const { text, joined } = sparkline(value.points, { unicode: showsUnicode(env) });
    const each = joined === 1 ? '' : ` (${joined} ${value.each}s each)`;
    return [label, `${text}${each}   ${value.text}`];
  });
}

function folded(line: string, indent: number, { columns: cells, measure }: Screen): readonly string[] {
  return fold(line, { cells, indent, measure });
}

/** With how to see the columns that are not shown. */
async function rowLines(
  rows: readonly Row[],
  all: readonly Column[],
  screen: Screen,
): Promise<{ readonly lines: readonly string[]; readonly hidden?: string }> {
  if (rows.length === 0) return { lines: [] };
  const { settings, presentation } = screen.job;
  const isWide = settings.format === 'wide';
  const isEmpty = ({ field }: Column) => rows.every(row => plainText(valueAt(row, field)) === '');
  const isShown = (column: Column) => (isWide || !column.wideOnly) && !(column.unlessEmpty && isEmpty(column));
  const asked = askedColumns(settings, all);
  const columns = asked ?? columnsFor(all, rows).filter(isShown);
  const tabular = !settings.accessible && screen.columns >= NARROWEST_TABLE;
  const sheet = tabular ? fittedRows(rows, columns, screen) : undefined;
  if (sheet === undefined) {
    const style = { now: settings.now, absoluteTimes: isWide, spoken: settings.accessible };
    // `card 1 of 4`, with a blank line between rows.
    const records = rows.flatMap((row, index) => [
      ...(index > 0 ? [''] : []),
      `${presentation.noun} ${index + 1} of ${rows.length}`,
      ...recordLines(row, columns, style),
    ]);
    return { lines: settings.accessible ? records : records.flatMap(line => folded(line, 2, screen)) };
  }
  const lines = await drawTable(sheet, screen);
  const dropped = sheet.dropped.filter(title => title !== BAR_COLUMN.title);
  if (isWide) {
    return dropped.length === 0 ? { lines } : { lines, hidden: `Not shown, too narrow: ${dropped.join(', ')}` };
  }
  const shown = new Set(sheet.columns.map(({ column }) => column.field));
  // Columns that are empty in every row are nothing to look for.
  const isMore = asked === undefined && all.some(column => !shown.has(column.field) && !isEmpty(column));
  return isMore ? { lines, hidden: 'More columns: -o wide' } : { lines };
}

/**
 * The first table that shows every column whole, else the one that leaves out the fewest: with whole ids, then with short ones,
 * a wide one at last with relative times too. What is read later, in a pipe or a file, holds whole ids.
 */
function fittedRows(rows: readonly Row[], columns: readonly Column[], screen: Screen): FittedSheet | undefined {
  const { settings, streams, env } = screen.job;
  const isWide = settings.format === 'wide';
  const styles = [
    { absoluteTimes: isWide, isShort: false },
    { absoluteTimes: isWide, isShort: true },
    { absoluteTimes: false, isShort: true },
  ];
  let best: FittedSheet | undefined;
  for (const { absoluteTimes, isShort } of styles.slice(0, streams.stdout.isTerminal ? (isWide ? 3 : 2) : 1)) {
    const style = { now: settings.now, absoluteTimes };
    const cells = rows.map(row => columns.map(column => humanCell(column, valueAt(row, column.field), style)));
    const whole = { columns, rows: cells };
    const drawn = withBars(isShort ? withShortIds(whole, ellipsisFor(env)) : whole, rows, screen);
    const sheet = fitSheet(drawn, screen.columns, screen.measure);
    if (sheet === undefined) continue;
    if (sheet.dropped.length === 0 && (isWide || !sheet.cut)) return sheet;
    if (best === undefined || sheet.dropped.length <= best.dropped.length) best = sheet;
  }
  return best;
}

function withShortIds({ columns, rows }: Sheet, ellipsis: string): Sheet {
  const short = columns.map(({ shortTo }, index) => {
    const ids = rows.map(row => row[index] ?? '');
    return shortTo === undefined ? undefined : shortIds(ids, shortTo, ellipsis);
  });
  return { columns, rows: rows.map(row => row.map((text, index) => short[index]?.get(text) ?? text)) };
}

/** The sheet with a bar a row, beside its number; only as long as that number is shown itself. */
function withBars(sheet: Sheet, rows: readonly Row[], { job }: Screen): Sheet {
  const field = job.presentation.bars;
  const at = sheet.columns.findIndex(column => column.field === field) + 1;
  if (field === undefined || at === 0) return sheet;
  const values = rows.map(row => valueAt(row, field));
  const drawn = bars(values, { unicode: showsUnicode(job.env) });
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

/** One `field: value` a line; `spoken` in words (`120.00 US dollars`) in place of the table's short forms. */
function recordLines(row: Row, columns: readonly Column[], style: HumanCells & { readonly spoken: boolean }): string[] {
  const cell = style.spoken ? spokenCell : humanCell;
  const shown = columns.filter(({ field, unlessEmpty }) => !unlessEmpty || plainText(valueAt(row, field)) !== '');
  return shown.map(column => `${spokenName(column.field)}: ${cell(column, valueAt(row, column.field), style)}`);
}

type Pair = readonly [label: string, value: string];

/** One result as pairs made from its columns; times stand in both forms. */
function pairsOf(row: Row, columns: readonly Column[], options: HumanCells): Pair[] {
  const told = columns.filter(
    column => !column.unlessEmpty || !['', '-'].includes(humanCell(column, valueAt(row, column.field), options)),
  );
  return told.map(column => {
    const value = valueAt(row, column.field);
    const name = spokenName(column.field).replaceAll('.', ' ');
    const label = name.charAt(0).toUpperCase() + name.slice(1);
    const ms = column.kind === 'time' ? parseTimestamp(value) : undefined;
    if (ms !== undefined) {
      const age = relativeTime(ms, options.now);
      return [label, `${isoTime(ms)} (${age === 'now' || ms > options.now ? age : `${age} ago`})`];
    }
    return [label, humanCell(column, value, options)];
  });
}

/** An amount at the start of a value, and what is said about it after it. */
const AMOUNT = /^(-?\$[\d,]+\.\d{2})(?: {2,}(.*))?$/;

/** Label and value in two columns. Where every value is an amount the amounts end at the same place. */
function pairsOnScreen(pairs: readonly Pair[], indent: string, screen: Screen): readonly string[] {
  const { measure } = screen;
  const texts = pairs.map(([label, value]) => [printable(label), printable(value)] as const);
  const labelWidth = Math.max(0, ...texts.map(([label]) => measure.width(label)));
  const amounts = texts.map(([, value]) => AMOUNT.exec(value));
  const hasOthers = amounts.some(match => match === null);
  const amountWidth = Math.max(0, ...amounts.map(match => match?.[1]?.length ?? 0));
  return texts.flatMap(([label, value], index) => {
    const padded = label + ' '.repeat(labelWidth - measure.width(label));
    const [, amount = '', remark = ''] = amounts[index] ?? [];
    const line = hasOthers ? `${padded}  ${value}` : `${padded}   ${amount.padStart(amountWidth)}   ${remark}`;
    return folded(indent + line.trimEnd(), indent.length + labelWidth + 2, screen);
  });
}

// Numbers over time as one line: one character a bucket, its height in proportion, from zero.

const MOST_POINTS = 30;
const LEVELS = { unicode: '▁▂▃▄▅▆▇█', ascii: '_.-=+*#@' } as const;
/** Nothing moved; more was refunded than spent. */
const SIGNS = { unicode: ['·', '▿'], ascii: [' ', 'v'] } as const;

/** At most thirty characters: more buckets are joined with their neighbours, as many in each as are needed (`joined`). */
function sparkline(points: readonly Point[], { unicode }: { readonly unicode: boolean }) {
  const joined = Math.max(1, Math.ceil(points.length / MOST_POINTS));
  const shown: Point[] = [];
  for (let from = 0; from < points.length; from += joined) {
    const part = points.slice(from, from + joined);
    shown.push({ spent: part.reduce((sum, { spent }) => sum + spent, 0), moved: part.some(({ moved }) => moved) });
  }
  const largest = Math.max(1, ...shown.map(({ spent }) => spent));
  const levels = [...LEVELS[unicode ? 'unicode' : 'ascii']];
  const [still, back] = SIGNS[unicode ? 'unicode' : 'ascii'];
  const draw = ({ spent, moved }: Point): string => {
    if (!moved) return still;
    if (spent < 0) return back;
    return levels[Math.max(0, Math.ceil((spent * levels.length) / largest) - 1)] ?? still;
  };
  return { text: shown.map(draw).join(''), joined };
}

// Bars beside numbers: each as long as its share of the largest. They say nothing that the number does not.

/** Given up where the screen is narrow, after what is less important than a look at the whole. */
const BAR_COLUMN: Column = { field: '', title: '', kind: 'text', priority: 3 };

const CELLS = 24;
/** Eighths of a cell, from none to seven. */
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One bar a value, in USD; none for what is not money or not above zero, at least a sliver for what is. */
function bars(values: readonly unknown[], { unicode }: { readonly unicode: boolean }): readonly string[] {
  const amounts = values.map(value => Math.max(0, (typeof value === 'number' ? centsOf(value) : undefined) ?? 0));
  const largest = Math.max(1, ...amounts);
  return amounts.map(amount => {
    if (amount === 0) return '';
    if (!unicode) return '#'.repeat(Math.max(1, Math.round((amount * CELLS) / largest)));
    const eighths = Math.max(1, Math.round((amount * CELLS * 8) / largest));
    return '█'.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? '');
  });
}
