/** Writes cards, the wallet and open challenges, and what of them had changed. */
import type { SqlValue } from '../engine/connection.ts';
import type { MirrorDatabase } from './database.ts';
import {
  type Card,
  type CardValues,
  type Challenge,
  cardValues,
  challengeValues,
  type Wallet,
  type WalletValues,
  walletValues,
} from './records.ts';
import { countUnknown, type Writing } from './store-records.ts';

const COLUMNS = [
  'bin_id',
  'network',
  'last4',
  'label',
  'status',
  'balance_cents',
  'spending_limit_cents',
  'auto_freeze_cents',
  'allowed_categories',
  'metadata',
  'created_ms',
  'created_at',
  'expires_ms',
  'expires_at',
] as const satisfies readonly (keyof CardValues)[];

type Stored = CardValues & { readonly id: number; readonly gone_at: number | null };

/** Stores cards as they came. Call it inside a commit. */
export function storeCards(writing: Writing, cards: readonly Card[]): void {
  for (const card of cards) storeCard(writing, card);
}

function storeCard(writing: Writing, card: Card): void {
  const { db, counts, now } = writing;
  const values = cardValues(card);
  const cardId = card.id.replaceAll('\0', '\ufffd').toWellFormed();
  const stored = db.get<Stored>(`select id, gone_at, ${COLUMNS.join(', ')} from card where card_id = ?`, cardId);
  if (stored === undefined) {
    const marks = COLUMNS.map(() => '?').join(', ');
    const row = db.get<{ id: number }>(
      `insert into card (card_id, first_seen, ${COLUMNS.join(', ')}) values (?, ?, ${marks}) returning id`,
      cardId,
      now,
      ...COLUMNS.map(name => values[name]),
    );
    index(db, row?.id ?? 0, values);
    observe(writing, cardId, values);
    countUnknown(db, 'card', card);
    counts.cards.new += 1;
    return;
  }
  const changed = COLUMNS.filter(name => values[name] !== stored[name]);
  if (changed.length === 0 && stored.gone_at === null) return;
  db.run(
    `update card set gone_at = null, ${COLUMNS.map(name => `${name} = ?`).join(', ')} where id = ?`,
    ...COLUMNS.map((name): SqlValue => values[name]),
    stored.id,
  );
  if (changed.some(name => name === 'label' || name === 'last4' || name === 'metadata')) index(db, stored.id, values);
  if (changed.some(name => name === 'status' || name === 'balance_cents')) observe(writing, cardId, values);
  counts.cards.changed += 1;
}

function index(db: MirrorDatabase, id: number, { label, last4, metadata }: CardValues): void {
  db.run('delete from card_words where rowid = ?', id);
  const words = Object.entries(JSON.parse(metadata) as Record<string, string>)
    .flat()
    .join(' ');
  db.run(
    'insert into card_words (rowid, label, last4, metadata) values (?, ?, ?, ?)',
    id,
    label ?? '',
    last4 ?? '',
    words,
  );
}

function observe({ db, now }: Writing, cardId: string, { status, balance_cents }: CardValues): void {
  db.run(
    'insert into card_state (card_id, at_ms, status, balance_cents) values (?, ?, ?, ?)',
    cardId,
    now,
    status,
    balance_cents,
  );
}

/** The service does not know the card any more. */
export function storeGoneCard({ db, counts, now }: Writing, cardId: string): void {
  counts.cards.gone += db.run('update card set gone_at = ? where card_id = ? and gone_at is null', now, cardId);
}

const WALLET_COLUMNS = [
  'balance_cents',
  'pending_deposits_cents',
  'total_deposited_cents',
  'total_spent_cents',
  'cards_active',
  'cards_total_balance_cents',
] as const satisfies readonly (keyof WalletValues)[];

/** Stores the wallet where it is another than at the last reading. */
export function storeWallet({ db, now }: Writing, wallet: Wallet): void {
  const values = walletValues(wallet);
  const last = db.get<WalletValues>('select * from wallet_state order by rowid desc limit 1');
  if (last !== undefined && WALLET_COLUMNS.every(name => last[name] === values[name])) return;
  db.run(
    `insert into wallet_state (at_ms, ${WALLET_COLUMNS.join(', ')}) values (?, ?, ?, ?, ?, ?, ?)`,
    now,
    ...WALLET_COLUMNS.map(name => values[name]),
  );
}

/** Stores open challenges; those that are open no more stay as they were seen last. */
export function storeChallenges({ db, now }: Writing, challenges: readonly Challenge[]): void {
  for (const challenge of challenges) {
    const { challenge_id, card_id, merchant, cents, status, expires_ms } = challengeValues(challenge);
    db.run(
      `insert into challenge (challenge_id, card_id, merchant, cents, status, expires_ms, first_seen, last_seen)
        values (?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (challenge_id) do update set status = excluded.status, last_seen = excluded.last_seen`,
      challenge_id,
      card_id,
      merchant,
      cents,
      status,
      expires_ms,
      now,
      now,
    );
  }
}
