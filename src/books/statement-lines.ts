/** Lines of a statement before they have a day and a balance: from records, own rows, and the differences of cuts. */
import { createHash } from 'node:crypto';
import { effectOf } from './effect.ts';
import type { Period } from './period.ts';
import { rowName } from './position.ts';
import type { CutCardRow } from './rows.ts';
import type { ExactCut, Line, PostedRow, PostedStep, StatementInput, StatementRecords } from './statement-model.ts';

export type Draft = Omit<Line, 'balance' | 'date' | 'time'> & {
  /** Of derived lines: the earlier of the two cuts. */
  readonly since?: number;
  /** Of derived lines without an earlier cut: when the first one was, ms UTC. */
  readonly firstCut?: number;
  /** It happened at any time after the one and up to the other (ms UTC): balances between are not known. */
  readonly anyTime?: { readonly after: number; readonly until: number };
};

type CardDraft = Draft & { readonly card_id: string };

/** What moved between the wallet and each card, or is not explained; all lines of a card but those of its records. */
export function movedDrafts({ records, moves, cuts, unproved, period }: StatementInput): ReadonlyMap<string, Draft[]> {
  const byCard = new Map<string, Draft[]>();
  const add = (draft: CardDraft) => {
    const known = byCard.get(draft.card_id);
    if (known === undefined) byCard.set(draft.card_id, [draft]);
    else known.push(draft);
  };
  // Rows that the sums showed to be done count since then, whatever the journal says.
  const counted = JSON.parse((unproved ?? cuts.at(-1))?.cut.counted_rows ?? '{}') as Readonly<Record<string, string>>;
  for (const move of moves) {
    const shownBySums = counted[rowName(move)];
    const card = shownBySums ?? move.card_id;
    if (card === null || move.cents === 0 || (move.outcome !== 'done' && shownBySums === undefined)) continue;
    const cents = move.operation === 'cards.withdraw' ? -move.cents : move.cents;
    const payee = move.operation === 'cards.withdraw' ? 'To wallet' : 'From wallet';
    add({ ...transfer(rowName(move), card, cents), payee, at: move.at_ms, source: 'journal' });
  }
  for (const draft of derived(cuts, { records, moves })) add(draft);
  if (unproved !== undefined) for (const draft of unexplained(unproved, cuts.at(-1), period)) add(draft);
  return byCard;
}

/** A line each time that a purchase in one changing record was seen to change: an amount under a known id stays. */
export function draftsOfSteps(row: PostedRow, steps: readonly PostedStep[], card_id: string): readonly Draft[] {
  const plain = ofRecord(row, card_id);
  let before = 0;
  return steps.map(({ at, since, spent }, index) => {
    const cents = before - spent;
    before = spent;
    const type = cents > 0 ? 'refund' : 'settlement';
    const id = index === 0 ? row.tx_id : `${row.tx_id}-${index + 1}`;
    return {
      ...plain,
      id,
      at,
      type,
      cents,
      ...(since !== undefined && { since, anyTime: { after: since, until: at } }),
    };
  });
}

/** Records of other types are told by the sums alone. */
export function ofRecord(row: PostedRow, card_id: string): CardDraft {
  const { settled, refunded } = effectOf(row);
  return {
    id: row.tx_id,
    at: row.at_ms,
    type: row.type === 'refund' ? 'refund' : 'settlement',
    cents: refunded - settled,
    payee: row.merchant ?? '',
    memo: '',
    card_id,
    mcc: row.mcc,
    country: row.merchant_country,
    authorization_id: row.authorization_id,
    counter: 'merchant',
    source: 'record',
  };
}

function transfer(id: string, card_id: string, cents: number) {
  return {
    id,
    type: 'transfer' as const,
    cents,
    memo: '',
    card_id,
    mcc: null,
    country: null,
    authorization_id: null,
    counter: 'wallet' as const,
  };
}

/** What cards changed by between two exact cuts beyond their records and own rows. */
function derived(
  cuts: readonly ExactCut[],
  { records, moves }: Pick<StatementInput, 'records' | 'moves'>,
): CardDraft[] {
  const found: CardDraft[] = [];
  let before: ReadonlyMap<string, CutCardRow> = new Map();
  let since = 0;
  const ends = new Map<string, number[]>();
  for (const { operation, card_id, outcome, at_ms } of moves) {
    if (operation !== 'cards.terminate' || card_id === null || outcome !== 'done') continue;
    ends.set(card_id, [...(ends.get(card_id) ?? []), at_ms]);
  }
  for (const { cut, cards } of cuts) {
    for (const row of cards) {
      const old = before.get(row.card_id);
      const cents = restOf(row) - (old === undefined ? 0 : restOf(old));
      if (cents === 0) continue;
      const fee = records.unknownTypes.find(
        each =>
          each.card_id === row.card_id &&
          Math.abs(each.cents) === Math.abs(cents) &&
          each.first_seen > since &&
          each.first_seen <= cut.at_ms,
      );
      if (fee !== undefined) {
        found.push({ ...ofRecord(fee, row.card_id), type: 'fee', counter: 'fees', cents });
        continue;
      }
      const id = derivedId([since, cut.at_ms, row.card_id, 'transfer', cents]);
      const end = (ends.get(row.card_id) ?? []).find(at => at > since && at <= cut.at_ms);
      const payee = cents < 0 ? 'To wallet' : 'From wallet';
      const anyTime = { after: since, until: cut.at_ms };
      const isEnd = end !== undefined && cents < 0 && isAtOnce(records, old, { ...row, since, end, until: cut.at_ms });
      found.push({
        ...transfer(id, row.card_id, cents),
        payee,
        at: end ?? cut.at_ms,
        source: 'derived',
        since,
        ...(since === 0 && { firstCut: cut.at_ms }),
        ...(!isEnd && { anyTime }),
      });
    }
    before = new Map(cards.map(row => [row.card_id, row]));
    since = cut.at_ms;
  }
  return found;
}

/**
 * Whether all that a card gave back went to the wallet at its own end. What was posted after it, or held then and let go
 * later, went at times of its own.
 */
function isAtOnce(
  records: StatementRecords,
  old: CutCardRow | undefined,
  { card_id, since, end, until }: Readonly<Record<'since' | 'end' | 'until', number>> & Pick<CutCardRow, 'card_id'>,
): boolean {
  for (const { at_ms } of records.of(card_id)) if (at_ms > end && at_ms <= until) return false;
  return (old?.holds_cents ?? 0) === 0 && !records.mayHold(card_id, { since, at: end });
}

/**
 * What cards changed by after the last exact cut beyond their records and own rows. A terminated card has nothing but what
 * goes back to the wallet.
 */
function unexplained({ cut, cards }: ExactCut, base: ExactCut | undefined, period: Period): readonly CardDraft[] {
  const before = new Map(base?.cards.map(row => [row.card_id, row]));
  return cards.flatMap((row): readonly CardDraft[] => {
    const old = before.get(row.card_id);
    const cents = restOf(row) - (old === undefined ? 0 : restOf(old));
    if (cents === 0) return [];
    const at = Math.min(cut.at_ms, period.to - 1);
    const isOver = row.status === 'terminated';
    const id = derivedId([base?.cut.at_ms ?? 0, cut.at_ms, row.card_id, isOver ? 'transfer' : 'unexplained', cents]);
    const anyTime = { after: base?.cut.at_ms ?? 0, until: at };
    const plain = {
      ...transfer(id, row.card_id, cents),
      at,
      source: 'derived' as const,
      anyTime,
      unproved: true as const,
    };
    if (isOver) return [{ ...plain, payee: cents < 0 ? 'To wallet' : 'From wallet' }];
    return [{ ...plain, type: 'unexplained' as const, counter: 'unexplained' as const, payee: UNEXPLAINED }];
  });
}

const UNEXPLAINED = 'Not explained';

/** What a card has that neither records nor own rows explain, from its beginning. */
function restOf(row: CutCardRow): number {
  const posted = row.balance_cents + row.holds_cents;
  const own = row.created_cents + row.funded_cents - row.withdrawn_cents;
  return posted - (own - row.settled_cents + row.refunded_cents);
}

/** Deposits, the other side of every transfer, and what is left of each cut. */
export function walletDrafts(
  { cuts, deposits, unproved, period }: StatementInput,
  moved: ReadonlyMap<string, readonly Draft[]>,
  end: number,
): readonly Draft[] {
  const drafts: Draft[] = [];
  for (const lines of moved.values()) {
    for (const line of lines) {
      if (line.counter !== 'wallet') continue;
      drafts.push({ ...line, cents: -line.cents, counter: 'card', payee: line.cents > 0 ? 'To card' : 'From card' });
    }
  }
  let known = 0;
  let since = 0;
  const observed = [
    ...deposits.map(row => ({ at: row.at_ms, total: row.total_deposited_cents })),
    ...cuts.map(({ cut }) => ({ at: cut.at_ms, total: cut.total_deposited_cents })),
  ].sort((a, b) => a.at - b.at || (a.total ?? 0) - (b.total ?? 0));
  for (const { at, total } of observed) {
    if (total === null || at > end) continue;
    const cents = total - known;
    if (cents !== 0) {
      const id = derivedId([since, at, 'wallet', 'deposit', cents]);
      const base = {
        ...transfer(id, '', cents),
        card_id: null,
        type: 'deposit' as const,
        counter: 'deposits' as const,
      };
      drafts.push({ ...base, payee: 'Deposit', at, source: 'derived', since, anyTime: { after: since, until: at } });
    }
    [known, since] = [total, at];
  }
  if (unproved !== undefined) drafts.push(...unexplainedOfWallet(unproved, cuts.at(-1), period));
  return drafts.sort(byTime);
}

/** What the wallet changed by after the last exact cut beyond deposits and transfers. */
function unexplainedOfWallet({ cut, cards }: ExactCut, base: ExactCut | undefined, period: Period): Draft[] {
  const rest = (of: ExactCut | undefined) =>
    (of?.cut.wallet_cents ?? 0) - (of?.cut.total_deposited_cents ?? 0) + (of?.cards ?? []).reduce(ownSum, 0);
  let cents = rest({ cut, cards }) - rest(base);
  // What terminated cards gave back has its lines already.
  const since = base?.cut.at_ms ?? 0;
  for (const line of unexplained({ cut, cards }, base, period)) if (line.counter === 'wallet') cents += line.cents;
  if (cents === 0) return [];
  const id = derivedId([since, cut.at_ms, 'wallet', 'unexplained', cents]);
  const marked = { type: 'unexplained' as const, counter: 'unexplained' as const, payee: UNEXPLAINED, card_id: null };
  const at = Math.min(cut.at_ms, period.to - 1);
  const anyTime = { after: since, until: at };
  return [{ ...transfer(id, '', cents), ...marked, at, source: 'derived', anyTime, unproved: true }];
}

const ownSum = (sum: number, { created_cents, funded_cents, withdrawn_cents }: CutCardRow) =>
  sum + created_cents + funded_cents - withdrawn_cents;

/** Same cuts, same id: an import that comes twice is known by it. */
function derivedId(parts: readonly (string | number)[]): string {
  return `cw-${base32(createHash('sha256').update(parts.join('\n')).digest()).slice(0, 20)}`;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Lower-case base32 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let [value, bits] = [0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(value >>> bits) & 31] ?? '';
      value &= (1 << bits) - 1;
    }
  }
  return text;
}

/** Where a clock went back, several readings are of one instant: what was read first stands first. */
export function byTime(a: Draft, b: Draft): number {
  return a.at - b.at || (a.since ?? a.at) - (b.since ?? b.at) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
