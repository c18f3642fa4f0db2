/** Long lists from the text of the service: lines that are written without making objects of them. */
import { type RawMember, type RawRows, rowPattern } from '../core/raw-rows.ts';
import { csvLines } from './delimited.ts';
import { jsonLines } from './documents.ts';
import type { Job } from './job.ts';
import { mayHoldInvisible, printableJson } from './printable.ts';
import type { Column, ColumnKind, Row } from './view.ts';

/** Whether a listing may be written from text: nothing chooses, orders or escapes. */
export function isPlain({ presentation, settings, streams }: Job): boolean {
  const { fields, columns, sort } = settings;
  const isAsked = fields !== undefined || columns !== undefined || sort !== undefined;
  return presentation.listing?.written !== undefined && !isAsked && !streams.stdout.isTerminal;
}

/** One JSON object a line, as UTF-8. */
export function rawNdjson(rows: readonly Row[] | RawRows): Uint8Array {
  if (!isWritten(rows)) return Buffer.from(jsonLines(rows));
  if (!mayHoldInvisible(rows.text)) return rows.lines();
  return Buffer.from(printableJson(new TextDecoder().decode(rows.lines())));
}

export interface RawCsv {
  /** CSV lines as UTF-8. */
  lines(rows: readonly Row[] | RawRows): Promise<Uint8Array>;
}

/** Cells that need no guard and no other form are taken as they stand; a row with another one is parsed. */
export function rawCsv(style: { readonly columns: readonly Column[]; readonly raw: boolean }): RawCsv {
  const { columns } = style;
  let plan: Plan | undefined;
  const slow = async (rows: readonly Row[]) => {
    const text = await csvLines(rows, { ...style, terminal: false });
    return Buffer.from(text).toString('latin1');
  };
  return {
    async lines(rows) {
      if (!isWritten(rows)) return Buffer.from(await slow(rows), 'latin1');
      if (plan?.members !== rows.members) plan = planFor(rows.members, columns);
      const mayBePlain = style.raw || !mayHoldInvisible(rows.text);
      let text = '';
      let others: Row[] = [];
      for (let index = 0; index < rows.count; index += 1) {
        const line = mayBePlain ? plainLine(rows, index, plan) : undefined;
        if (line === undefined) others.push(JSON.parse(rows.row(index)) as Row);
        else {
          if (others.length > 0) {
            text += await slow(others);
            others = [];
          }
          text += line;
        }
      }
      return Buffer.from(others.length > 0 ? text + (await slow(others)) : text, 'latin1');
    },
  };
}

/** How rows of these members become lines. */
interface Plan {
  readonly members: readonly RawMember[];
  /** Matches a row whose cells are plain, a group for each; undefined where a column never is. */
  readonly row: RegExp | undefined;
  readonly cells: readonly Cell[];
}

interface Cell {
  readonly isMoney: boolean;
  /** Number of its group; 0 for a column that no row has. */
  readonly group: number;
}

const MONEY = '(-?\\d+(?:\\.\\d\\d?)?)|null';
/**
 * No quote, no escape, and nothing at its beginning that a spreadsheet would run or that looks guarded: no sign, no
 * blank, and no first byte of a blank or of a full-width sign.
 */
const TEXT = `"((?![=+\\-@' \\xc2\\xe1-\\xe3\\xef])[^"\\\\\\x00-\\x1f]*)"|null`;
const PLAIN: Partial<Record<ColumnKind, string>> = {
  money: MONEY,
  text: TEXT,
  id: TEXT,
  word: TEXT,
  time: '"(\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z)"|null',
};

function planFor(members: readonly RawMember[], columns: readonly Column[]): Plan {
  const kinds = new Map(columns.map(({ field, kind }) => [field, kind]));
  const isPlain = columns.every(({ field, kind }) => PLAIN[kind] !== undefined && !field.includes('.'));
  if (!isPlain || kinds.size < columns.length) return { members, row: undefined, cells: [] };
  const groups = new Map<string, number>();
  const source = rowPattern(members, ({ name, value }) => {
    const kind = kinds.get(name);
    if (kind === undefined) return value;
    groups.set(name, groups.size + 1);
    return PLAIN[kind] ?? value;
  });
  const cells = columns.map(({ field, kind }) => ({ isMoney: kind === 'money', group: groups.get(field) ?? 0 }));
  return { members, row: new RegExp(source, 'y'), cells };
}

/** Latin-1, as the text of the rows. */
function plainLine(rows: RawRows, index: number, { row, cells }: Plan): string | undefined {
  if (row === undefined) return undefined;
  row.lastIndex = rows.begin(index);
  const found = row.exec(rows.text);
  if (found === null) return undefined;
  let line = '';
  for (let at = 0; at < cells.length; at += 1) {
    const { isMoney, group } = cells[at] as Cell;
    const value = group === 0 ? undefined : found[group];
    if (at > 0) line += ',';
    if (value !== undefined) line += isMoney ? amount(value) : value.includes(',') ? `"${value}"` : value;
  }
  return `${line}\n`;
}

/** With two decimals. */
function amount(text: string): string {
  const point = text.indexOf('.');
  if (point === -1) return `${text}.00`;
  return point === text.length - 2 ? `${text}0` : text;
}

function isWritten(rows: readonly Row[] | RawRows): rows is RawRows {
  return 'count' in rows;
}
