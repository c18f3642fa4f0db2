/**
 * CSV as RFC 4180 has it, read strictly and piece by piece: quotes only around a whole field, lines ended by LF or
 * CRLF, empty lines left out. After a fault reading goes on with the next line, so that every fault is found.
 */
import { LONGEST_LINE } from '../core/input-limits.ts';
import { type Fault, type Position, pointsIn } from './position.ts';

export interface CsvField extends Position {
  readonly text: string;
}

export type CsvRecord =
  | { readonly line: number; readonly fields: readonly CsvField[]; readonly fault?: undefined }
  | { readonly line: number; readonly fields?: undefined; readonly fault: Fault };

export interface CsvReader {
  /** Records that ended in this piece. A piece must not end inside a code point. */
  push(piece: string): readonly CsvRecord[];
  /** The record that the end of the input ends. */
  end(): readonly CsvRecord[];
}

const LONE_RETURN = 'a carriage return alone; lines end with LF or CRLF';

type State = 'start' | 'plain' | 'quoted' | 'after' | 'return' | 'skip';

/** Ends a run of ordinary characters. */
const PLAIN_END = /[",\r\n]/g;
const QUOTED_END = /["\n]/g;

export function createCsvReader(): CsvReader {
  let records: CsvRecord[] = [];
  let fields: CsvField[] = [];
  let state: State = 'start';
  let text = '';
  let [line, column, recordLine] = [1, 1, 1];
  let from: Position = { line, column };
  /** An empty field in quotes is a value: a line that holds only one is no empty line. */
  let inQuotes = false;

  const here = (): Position => ({ line, column });

  function endField(): void {
    fields.push({ ...from, text });
    text = '';
  }

  function endRecord(): void {
    const empty = fields.length === 1 && fields[0]?.text === '' && !inQuotes;
    if (!empty) records.push({ line: recordLine, fields });
    nextLine();
    fields = [];
    beginRecord();
  }

  function beginRecord(): void {
    recordLine = line;
    beginField();
  }

  function beginField(): void {
    from = here();
    inQuotes = false;
    state = 'start';
  }

  function nextLine(): void {
    line += 1;
    column = 1;
  }

  function fault(place: Position, what: string): void {
    // Told as what it is: the quotes of its names would be told as wrong quotes of CSV.
    const isObject = fields.length === 0 && text.startsWith('{');
    const fault = isObject
      ? { ...from, text: 'a JSON object in a CSV file; a file has one form' }
      : { ...place, text: what };
    records.push({ line: recordLine, fault });
    fields = [];
    text = '';
    state = 'skip';
  }

  /** Takes a run up to the next character that means something; returns where it ended. */
  function run(piece: string, at: number, end: RegExp): number {
    end.lastIndex = at;
    const found = end.exec(piece);
    const to = found === null ? piece.length : found.index;
    if (to > at) {
      const part = piece.slice(at, to);
      text += part;
      column += pointsIn(part);
      if (text.length > LONGEST_LINE)
        fault(from, `a field is longer than ${LONGEST_LINE.toLocaleString('en-US')} characters`);
    }
    return to;
  }

  function unquoted(char: string): void {
    switch (char) {
      case ',':
        endField();
        column += 1;
        beginField();
        return;
      case '\r':
        column += 1;
        state = 'return';
        return;
      case '\n':
        endField();
        endRecord();
        return;
      default:
        if (state === 'start') {
          state = 'quoted';
          inQuotes = true;
          column += 1;
        } else if (state === 'after') fault(here(), 'there is text after a closing quote; quote the whole field');
        else fault(here(), 'a quote inside a field without quotes; quote the field and double the quote');
    }
  }

  function step(piece: string, at: number): number {
    const char = piece[at] ?? '';
    switch (state) {
      case 'skip': {
        const newline = piece.indexOf('\n', at);
        if (newline < 0) return piece.length;
        nextLine();
        beginRecord();
        return newline + 1;
      }
      case 'quoted': {
        if (char === '"') {
          column += 1;
          state = 'after';
          return at + 1;
        }
        if (char === '\n') {
          text += char;
          nextLine();
          return at + 1;
        }
        return run(piece, at, QUOTED_END);
      }
      case 'after':
        if (char !== '"') break;
        text += char;
        column += 1;
        state = 'quoted';
        return at + 1;
      case 'return':
        if (char === '\n') break;
        fault({ line, column: column - 1 }, LONE_RETURN);
        return at;
      default:
        if (!/[",\r\n]/.test(char)) {
          state = 'plain';
          return run(piece, at, PLAIN_END);
        }
    }
    unquoted(char);
    return at + 1;
  }

  function taken(): readonly CsvRecord[] {
    const found = records;
    records = [];
    return found;
  }

  return {
    push(piece) {
      for (let at = 0; at < piece.length; ) at = step(piece, at);
      return taken();
    },
    end() {
      if (state === 'quoted') fault(from, 'a quote is opened here and never closed');
      else if (state === 'return') fault({ line, column: column - 1 }, LONE_RETURN);
      else if (state !== 'skip' && (state !== 'start' || fields.length > 0)) {
        endField();
        endRecord();
      }
      return taken();
    },
  };
}
