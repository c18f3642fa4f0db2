/** Names of an operation: its id and the idempotency keys of its attempts; the digest that tells twins. */
import { createHash } from 'node:crypto';
import type { Randomness } from '../../platform/host.ts';
import { wantedChange } from './wanted-change.ts';

/** Without letters that are taken for digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGITS = 26;

const OP_PATTERN = /^op_[0-9a-hjkmnp-tv-z]{26}$/;

export function isOp(name: string): boolean {
  return OP_PATTERN.test(name);
}

/**
 * Digits that may be a card number, alone or with a row and an attempt behind them. The marker of a card would not be sent
 * then, and a reading would hide it.
 */
const LIKE_A_NUMBER = /[2-9][0-9]{12}|[2-9][0-9]{3,}$/;

/** `op_` and 130 random bits, drawn again where they look like a card number. */
export function newOp(random: Randomness): string {
  for (;;) {
    const op = drawnOp(random);
    if (!LIKE_A_NUMBER.test(op)) return op;
  }
}

function drawnOp(random: Randomness): string {
  let bits = BigInt(`0x${Buffer.from(random.bytes(17)).toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < DIGITS; digit += 1) {
    text = `${ALPHABET[Number(bits & 31n)]}${text}`;
    bits >>= 5n;
  }
  return `op_${text}`;
}

/** Below the shortest limit known of any service (A-98) up to a million rows. */
export function keyOf(op: string, row: number, attempt: number): string {
  return `${op}.${row}.${attempt}`;
}

/** The key of an attempt: of the intention where it has a chain of keys, else of the op. */
export function attemptKey(
  op: string,
  { row, chain }: { readonly row: number; readonly chain?: string | undefined },
  attempt: number,
): string {
  return chain === undefined ? keyOf(op, row, attempt) : `${chain}.${attempt}`;
}

interface DigestedRow {
  readonly operation: string;
  readonly input: unknown;
  /** Values in place of those that were chosen for the caller: the same command may choose others the next time. */
  readonly asked?: object | undefined;
}

/**
 * Digest of wanted changes, the same for the same input however it was written: the members of a row are sorted, and
 * so are the rows. A file in another order asks for the same cards. Money is cents, so `25` and `25.00` are one; what else
 * is one stands in wanted-change.ts.
 */
export function inputDigest(rows: Iterable<DigestedRow>): string {
  const each: Buffer[] = [];
  for (const row of rows) each.push(createHash('sha256').update(lineOf(row)).digest());
  const [only] = each;
  if (only !== undefined && each.length === 1) return only.toString('hex');
  const hash = createHash('sha256');
  for (const digest of each.sort(Buffer.compare)) hash.update(digest);
  return hash.digest('hex');
}

/** Digest of one wanted change, by which rows of different inputs are compared. */
export function rowDigest(row: DigestedRow): string {
  return createHash('sha256').update(lineOf(row)).digest('base64');
}

/**
 * Digest of what a caller's name stands for: the one change, and the caller's idempotency key where one is given.
 */
export function intentDigest(row: DigestedRow, key: string | undefined): string {
  const change = inputDigest([row]);
  return key === undefined ? change : createHash('sha256').update(`${change}\n${key}`).digest('hex');
}

/** As releases up to 0.1.0 wrote it: the rows in their order. For runs that such a release left unfinished. */
export function digestInOrder(rows: Iterable<DigestedRow>): string {
  const hash = createHash('sha256');
  for (const { operation, input } of rows) hash.update(`${operation} ${sortedJson(input)}\n`);
  return hash.digest('hex');
}

function lineOf({ operation, input, asked }: DigestedRow): string {
  const wanted = asked === undefined ? input : { ...(input as object), ...asked };
  return `${operation} ${sortedJson(wantedChange(operation, wanted))}\n`;
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join(',')}}`;
}
