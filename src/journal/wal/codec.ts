/** Records as lines: `crc32 length seq json`. A torn last line is told from a damaged one. */
import { crc32 } from 'node:zlib';
import { CALLS } from '../../contract/raw.ts';
import { CliError } from '../../core/errors.ts';
import { isObject } from '../../core/objects.ts';
import type { ItemRecord, JournalRecord, StoredRecord } from './records.ts';

const NEWLINE = 0x0a;
const CRC_DIGITS = 8;
/** Around the JSON of a line: checksum, length, number, three spaces and the end. */
const MOST_AROUND = CRC_DIGITS + 10 + 10 + 4;

/** Where a line stands in its file, bytes. */
export interface LineOffset {
  readonly at: number;
  readonly length: number;
}

/**
 * Records as they are appended. `seq` counts the records of one writer from 0; the first one here has it. `ends`
 * takes where each of the lines ends, counted from the first.
 */
export function encodeLines(by: string, seq: number, records: readonly object[], ends: number[] = []): Uint8Array {
  const head = `{"by":${JSON.stringify(by)},`;
  const texts = records.map(record => head + JSON.stringify(record).slice(1));
  const lengths = texts.map(text => Buffer.byteLength(text));
  // Written in place: a buffer of its own for each line would be most of what a run of many rows makes.
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length + MOST_AROUND, 0));
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const begin = at;
    at += CRC_DIGITS;
    at += bytes.write(` ${lengths[index]} ${seq + index} `, at, 'latin1');
    at += bytes.write(text, at);
    bytes.write(checksum(bytes.subarray(begin + CRC_DIGITS + 1, at)), begin, 'latin1');
    bytes[at] = NEWLINE;
    at += 1;
    ends.push(at);
  }
  return bytes.subarray(0, at);
}

export interface ReadLines<Kept> {
  readonly written: readonly StoredRecord<Kept>[];
  /** Bytes of whole records; what follows them is a torn line of a crash and was never relied upon. */
  readonly whole: number;
}

const HEAD = /^([0-9a-f]{8}) (\d{1,9}) (\d{1,9}) /;
const WRITER = /^\{"by":"([0-9a-f]{8})",/;
const HEAD_SO_FAR = /^[0-9a-f]{0,8}$|^[0-9a-f]{8} \d{0,9}$|^[0-9a-f]{8} \d{1,9} \d{0,9}$/;

/**
 * Bytes of whole lines. Only what follows the last of them is looked at: it must be a torn line, or this throws
 * `check_failed`.
 */
export function wholeLength(bytes: Uint8Array, name: string): number {
  const whole = bytes.lastIndexOf(NEWLINE) + 1;
  if (whole < bytes.length && !isTorn(bytes.subarray(whole))) throw damaged(name, undefined);
  return whole;
}

/**
 * All records of a journal, or of another file in this form. Throws `check_failed` naming `name` for anything but a torn
 * last line.
 */
export function decodeLines<Kept = JournalRecord>(bytes: Uint8Array, name: string): ReadLines<Kept> {
  const written: StoredRecord<Kept>[] = [];
  const next = new Map<string, number>();
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(NEWLINE, at);
    if (end === -1) {
      if (!isTorn(bytes.subarray(at))) throw damaged(name, written.length + 1);
      break;
    }
    const line = decodeLine<Kept>(bytes.subarray(at, end));
    if (line === undefined || line.seq !== (next.get(line.written.by) ?? 0)) throw damaged(name, written.length + 1);
    next.set(line.written.by, line.seq + 1);
    written.push(line.written);
    at = end + 1;
  }
  return { written, whole: at };
}

function decodeLine<Kept = JournalRecord>(
  line: Uint8Array,
): { readonly seq: number; readonly written: StoredRecord<Kept> } | undefined {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  // Latin-1 keeps one character a byte, so that lengths can be compared.
  const head = HEAD.exec(bytes.toString('latin1', 0, 30));
  if (head === null) return undefined;
  const [whole, crc = '', length = '', seq = ''] = head;
  if (bytes.length - whole.length !== Number(length) || checksum(line.subarray(9)) !== crc) return undefined;
  const text = bytes.toString('utf8', whole.length);
  // The writer is cut off as text: taking it out of the object would be most of what a run pays for reading back.
  const writer = WRITER.exec(text);
  if (writer === null) return undefined;
  const record = JSON.parse(`{${text.slice(writer[0].length)}`) as Kept;
  if (!isUsable(record as Partial<ItemRecord>)) return undefined;
  return { seq: Number(seq), written: { by: writer[1] ?? '', record } };
}

/** Who may write to a journal of several people could write a row of any form; the database knows the same (`can_be_read`). */
function isUsable({ t, row, operation, input, amount }: Partial<ItemRecord>): boolean {
  if (t !== 'ITEM') return true;
  const isAmount = amount === undefined || (Number.isSafeInteger(amount) && amount >= 0);
  return isAmount && Number.isSafeInteger(row) && isObject(input) && Object.hasOwn(CALLS, operation ?? '');
}

/** One line that was written as a whole, read back. Throws `check_failed` naming `name` when it is not what it was. */
export function decodeStored(line: Uint8Array, name: string): JournalRecord {
  return decodeSigned(line, name).record;
}

/** The same with who wrote it. */
export function decodeSigned(line: Uint8Array, name: string): StoredRecord {
  const read = line.at(-1) === NEWLINE ? decodeLine(line.subarray(0, -1)) : undefined;
  if (read === undefined) throw damaged(name, undefined);
  return read.written;
}

/** Who wrote a line, and its number among those of that writer; undefined for what is no line. Nothing else of it is looked at. */
export function numberedWriter(line: string): { readonly by: string; readonly seq: number } | undefined {
  const [whole, , , seq] = HEAD.exec(line) ?? [];
  const by = whole === undefined ? undefined : WRITER.exec(line.slice(whole.length))?.[1];
  return by === undefined ? undefined : { by, seq: Number(seq) };
}

/** The records of those lines that are whole and undamaged; the others are passed over. Never throws. */
export function decodeWhole(bytes: Uint8Array): readonly JournalRecord[] {
  const records: JournalRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, at);
    if (end === -1) break;
    const line = decodeLine(bytes.subarray(at, end));
    if (line !== undefined) records.push(line.written.record);
    at = end + 1;
  }
  return records;
}

/** The beginning of a line whose end never reached the disk. A longer one than announced is damage. */
function isTorn(rest: Uint8Array): boolean {
  const start = Buffer.from(rest.subarray(0, 30)).toString('latin1');
  const head = HEAD.exec(start);
  if (head === null) return HEAD_SO_FAR.test(start);
  return rest.length - head[0].length <= Number(head[2]);
}

function damaged(name: string, line: number | undefined): CliError {
  const where = line === undefined ? 'in a record that was whole before' : `at record ${line}`;
  return new CliError('check_failed', {
    message: `the journal of ${name} is damaged ${where}`,
    notes: ['It is not changed. Look at the service itself before doing any of its rows again.'],
    hint: `cardwright ops show ${name}`,
    outcome: 'not_sent',
    op: name,
  });
}

/** Eight lowercase hexadecimal digits: every flipped byte and every burst of up to 32 bits shows. */
export function checksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}
