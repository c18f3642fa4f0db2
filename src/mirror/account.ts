/** Whose mirror it is: bound to origin, mode and key. Another key is taken where it shows the transactions known here. */
import { CliError } from '../core/errors.ts';
import type { Randomness } from '../platform/host.ts';
import type { MirrorDatabase } from './database.ts';
import type { PacedReader } from './paced-reader.ts';

export interface Account {
  readonly profile: string;
  readonly mode: string;
  /** Base address of the service, or `embedded`. */
  readonly origin: string;
  /** Tells one key from another, under a random value. Undefined for the embedded sandbox, whose key is another one in each process. */
  readonly keyPrint: ((salt: string) => Promise<string>) | undefined;
}

const LOOKED_FOR = 25;
/** Pages in which known transactions are looked for: they lie close together. */
const MOST_PAGES = 10;

/** Throws `guarded` where the file is of another origin or mode. Nothing is sent, and the key is not asked for. */
export function checkOrigin(db: MirrorDatabase, account: Account): void {
  const [origin, mode] = [db.fact('origin'), db.fact('mode')];
  if (origin === undefined || (origin === account.origin && mode === account.mode)) return;
  throw another(
    account,
    `it is a copy of ${origin} (${mode}), and the profile speaks to ${account.origin} (${account.mode})`,
  );
}

/**
 * Binds a new file, or checks the binding of an old one. With another key the newest known transactions are looked for;
 * throws `guarded` when none is there.
 */
export async function bindAccount(
  db: MirrorDatabase,
  account: Account,
  parts: { ask: PacedReader; random: Randomness },
) {
  checkOrigin(db, account);
  if (account.keyPrint === undefined) {
    db.commit(() => bindPlace(db, account));
    return;
  }
  const salt = db.fact('salt') ?? Buffer.from(parts.random.bytes(16)).toString('hex');
  const print = await account.keyPrint(salt);
  const known = db.fact('key_print');
  if (known === print) return;
  if (known !== undefined && !(await showsTheSame(db, parts.ask))) {
    throw another(
      account,
      'the key was changed, and none of the newest transactions known here is there: another account?',
      { isAsked: true },
    );
  }
  db.commit(() => {
    bindPlace(db, account);
    db.setFact('salt', salt);
    db.setFact('key_print', print);
  });
}

function bindPlace(db: MirrorDatabase, { origin, mode }: Account): void {
  db.setFact('origin', origin);
  db.setFact('mode', mode);
}

async function showsTheSame(db: MirrorDatabase, ask: PacedReader): Promise<boolean> {
  const newest = db.all<{ tx_id: string; at_ms: number }>(
    'select tx_id, at_ms from record where gone_at is null order by at_ms desc limit ?',
    LOOKED_FOR,
  );
  const [last] = newest;
  const first = newest.at(-1);
  if (first === undefined || last === undefined) return showsTheSameCards(db, ask);
  const ids = new Set(newest.map(({ tx_id }) => tx_id));
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const { rows } = await ask.transactions({ from: first.at_ms - 1, to: last.at_ms + 1 }, page);
    if (rows.some(({ id }) => ids.has(id))) return true;
    if (rows.length === 0) return false;
  }
  return false;
}

async function showsTheSameCards(db: MirrorDatabase, ask: PacedReader): Promise<boolean> {
  const cards = db.all<{ card_id: string }>(
    'select card_id from card where gone_at is null order by created_ms desc limit ?',
    LOOKED_FOR,
  );
  for (const { card_id } of cards) {
    try {
      await ask.read('cards.get', { card_id });
      return true;
    } catch (error) {
      if (!(error instanceof CliError) || error.kind !== 'not_found') throw error;
    }
  }
  // Of an account without cards nothing is known that could be another's.
  return cards.length === 0;
}

/** `isAsked`: requests that read were sent before it was seen. */
function another({ profile }: Account, why: string, { isAsked = false } = {}): CliError {
  return new CliError('guarded', {
    message: `the mirror of profile ${profile} is of another account: ${why}`,
    notes: ['Nothing was written. The hint moves the old copy aside; nothing is deleted.'],
    hint: 'cardwright books reset',
    ...(!isAsked && { outcome: 'not_sent' as const }),
  });
}
