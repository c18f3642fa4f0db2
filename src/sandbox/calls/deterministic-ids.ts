/**
 * Ids, digits and secrets that one seed fixes. With an idempotency key they derive from it, so that parallel runs
 * give the same cards the same ids; without one from counters in the store (docs/design/sandbox.md, section 7).
 */
import { hash } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';
import type { Meta } from '../store/open.ts';
import { nextCount, type Sql } from '../store/sql.ts';

interface DeterministicIdParts {
  readonly sql: Sql;
  /** Scope of the idempotency key, when one was sent; differs after the key expired. */
  readonly key?: string | undefined;
  /** Secret of subscriptions that name none, in place of a generated one. */
  readonly webhookSecret?: Secret | undefined;
  /** Seed and form of ids, where they are known and stay as they are; else read from the store each time. */
  readonly meta?: SeedAndForm | undefined;
}

type SeedAndForm = Pick<Meta, 'seed' | 'ids'>;

const ID_LENGTH = 24;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** What begins an id. */
type Kind = 'card' | 'bin' | 'txn' | 'dep' | 'tds' | 'wh' | 'evt' | 'dlv' | 'req' | 'flt';
export type IdSource = ReturnType<typeof deterministicIds>;

/** Chance for one transaction: the same calls give the same ids, numbers and codes. */
export function deterministicIds({ sql, key, webhookSecret, meta: known }: DeterministicIdParts) {
  const drawn = new Map<string, number>();
  const origin = (purpose: string) => {
    // Read each time: a reset changes the seed within its transaction.
    const meta = known ?? metaOf(sql);
    if (key === undefined || meta.ids === 'counted') return { ...meta, from: `count ${nextCount(sql, purpose)}` };
    const nth = (drawn.get(purpose) ?? 0) + 1;
    drawn.set(purpose, nth);
    return { ...meta, from: `key ${nth} ${key}` };
  };
  return {
    /** `card_` + 24 lowercase base32 characters, or counted (`card_1`) in tests. Never given out twice. */
    id(kind: Kind): string {
      const { seed, ids, from } = origin(kind);
      return ids === 'counted' ? `${kind}_${from.replace('count ', '')}` : idOf(kind, `${seed} ${kind} ${from}`);
    },
    /** A number of `count` digits as text, for card numbers, CVVs and codes. */
    digits(purpose: string, count: number): string {
      const { seed, from } = origin(`digits ${purpose}`);
      return digitsOf(`${seed} ${purpose} ${from}`, count);
    },
    /** `whsec_` + 32 bytes base64url (A-72); a sandbox may have one that every new subscription begins with. */
    webhookSecret(use: 'first' | 'rotated'): string {
      if (webhookSecret !== undefined && use === 'first') return webhookSecret.expose();
      const { seed, from } = origin('secret');
      return `whsec_${hash('sha256', `${seed} secret ${from}`, 'base64url')}`;
    },
  };
}

/** The id of a request by its number; what `id('req')` gives without a key. */
export function requestIdOf({ seed, ids }: SeedAndForm, number: number): string {
  return ids === 'counted' ? `req_${number}` : idOf('req', `${seed} req count ${number}`);
}

/** `card_` and 24 lowercase base32 characters (A-130), fixed by `source`. */
export function idOf(kind: string, source: string): string {
  const bytes = bytesOf(source);
  for (let at = 0; at < ID_LENGTH; at += 1) ID_CODES[at] = BASE32.charCodeAt(bytes.charCodeAt(at) & 31);
  return `${kind}_${String.fromCharCode(...ID_CODES)}`;
}

/** Characters of the id at work: text that grows by one at a time would be made 24 times. */
const ID_CODES: number[] = new Array(ID_LENGTH).fill(0);

/** A number in [0, 1), fixed by `source`. */
export function fractionOf(source: string): number {
  return Number.parseInt(hash('sha256', source, 'hex').slice(0, 8), 16) / 2 ** 32;
}

const metaOf = (sql: Sql) => sql.one<SeedAndForm>('select seed, ids from meta where one = 1');
export const seedOf = (sql: Sql) => metaOf(sql).seed;

function digitsOf(source: string, count: number): string {
  let digits = '';
  for (let block = 0; digits.length < count; block += 1) {
    const bytes = bytesOf(`${source} ${block}`);
    // 250 to 255 would make the digits 0 to 5 more frequent.
    for (let at = 0; at < bytes.length && digits.length < count; at += 1) {
      const byte = bytes.charCodeAt(at);
      if (byte < 250) digits += byte % 10;
    }
  }
  return digits;
}

/** The SHA-256 of a text, a character a byte: made faster than a buffer, and every create takes eight. */
function bytesOf(text: string): string {
  return hash('sha256', text, 'binary');
}
