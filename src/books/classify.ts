/** From residuals and evidence to findings: what records say first, then own unknown rows, then what balances alone show. */
import { addTo } from '../core/objects.ts';
import { type Finding, finding, isOfOthers } from './findings.ts';
import { type OwnNews, rowsDone, type UnknownRow } from './own-rows.ts';
import {
  type CardChange,
  type Cause,
  operatorCause,
  type Residuals,
  recordCause,
  rowName,
  Unexplained,
} from './position.ts';
import type { NewRecord, RecordSums, Remark } from './records.ts';
import { type CountedCard, type MoveRow, metadataValue } from './rows.ts';
import { type Guess, search } from './search.ts';

/** What is known of a checkpoint beside its sums. */
export interface Evidence {
  /** Of all records, with `since` the time of the base. */
  readonly records: RecordSums;
  readonly moves: readonly MoveRow[];
  /** Own rows, `<op>.<row>`, that the base did not know, or not as done. */
  readonly news: ReadonlyMap<string, OwnNews>;
  readonly soleOperator?: boolean | undefined;
}

/** Cards, and own rows that an earlier checkpoint counts as done, with their cards. */
interface Known {
  readonly cards: ReadonlyMap<string, CountedCard>;
  readonly counted: ReadonlyMap<string, string>;
}

export type Classified = ReturnType<typeof classify>;

/** Everything the difference of two positions shows. `residuals` are not changed. */
export function classify(residuals: Residuals, evidence: Evidence & Known) {
  return new Classification(residuals, evidence).result();
}

class Classification {
  readonly #rest: Unexplained;
  readonly #evidence: Evidence & Known;
  /** Cards that own rows made. */
  readonly #made: ReadonlySet<string | null>;
  readonly #findings: Finding[] = [];
  /** Own rows of unknown outcome that the sums show to be done, with their cards. */
  readonly #counted = new Map<string, string>();
  /** What findings explain beside records and own rows, a card: for the column OTHER. */
  readonly #others = new Map<string, number>();
  /** What other spenders took out of the wallet, negative, or brought back. */
  #walletOther = 0;
  /** Cards that somebody else made, and how much of the wallet went there so far. */
  readonly #created = new Map<string, number>();

  constructor(residuals: Residuals, evidence: Evidence & Known) {
    this.#rest = new Unexplained(residuals);
    this.#evidence = evidence;
    this.#made = cardsOf(evidence.moves, 'cards.create');
  }

  result() {
    this.#remarks();
    this.#ownUnknownRows();
    this.#foreignStates();
    this.#listedLate();
    this.#wrongCards();
    this.#guesses();
    this.#created.forEach((amount, card) => {
      this.#add({ class: 'other_created', candidates: [card], cents: amount, ...this.#markerNote(card) });
      this.#note(card, amount);
    });
    this.#leftOver();
    const { released, carried } = this.#inBounds();
    return {
      findings: withUncertain(this.#findings, this.#rest),
      counted: this.#counted,
      others: this.#others,
      released,
      carried,
      walletOther: this.#walletOther,
    };
  }

  #add(facts: Parameters<typeof finding>[0]): void {
    this.#findings.push(finding(facts, this.#evidence));
  }

  /** Money that came from the wallet, or from nowhere in the sums. */
  #note(card: string | undefined, amount: number, { ofWallet = true } = {}): void {
    if (ofWallet) this.#walletOther -= amount;
    if (card === undefined) return;
    if (amount !== 0) this.#others.set(card, (this.#others.get(card) ?? 0) + amount);
  }

  #remarks(): void {
    const { remarks, hasChangingRecords } = this.#evidence.records;
    // What sums rest on comes first: a duplicate is only wrong where the totals do not count it.
    for (const each of remarks) {
      const cause = causeOf(each);
      const explains = cause !== undefined && this.#rest.takeIfLess(...cause);
      if (each.isAfterBase && !explains) continue;
      if (each.class === 'record_changed' && hasChangingRecords) continue;
      if (each.class === 'fee') {
        const [card = ''] = each.candidates;
        if (!explains && !this.#tryFee(card, each.cents)) continue;
        // What a terminated card was charged shows in the wallet.
        if (this.#rest.isOver(card)) this.#note(undefined, -each.cents);
        else this.#note(card, each.cents, { ofWallet: false });
      }
      this.#findings.push(each.class === 'duplicate' ? { ...each, isWrong: explains } : each);
    }
  }

  /** A fee that `total_spent` counts, or a credit of either kind. */
  #tryFee(card_id: string, cents: number): boolean {
    const forms = [
      { card: cents, spent: -cents },
      { card: -cents, spent: 0 },
      { card: -cents, spent: cents },
    ];
    return forms.some(form => this.#rest.takeIfLess({ card_id, wallet: 0, ...form }));
  }

  #ownUnknownRows(): void {
    const unknown: UnknownRow[] = [];
    for (const move of this.#evidence.moves) {
      const row = rowName(move);
      if (move.outcome !== 'unknown' || this.#evidence.counted.has(row)) continue;
      const card = move.card_id ?? this.#madeBy(move);
      if (card === undefined) continue;
      if (move.operation === 'cards.terminate') {
        const change = this.#rest.changes.get(card);
        if (change?.hasEnded) this.#add(ofRow({ row, card, amount: -change.returned }));
      } else unknown.push({ row, card, amount: move.operation === 'cards.withdraw' ? -move.cents : move.cents });
    }
    for (const own of rowsDone(this.#rest, unknown)) {
      this.#rest.take(operatorCause(own.card, own.amount));
      this.#note(own.card, own.amount);
      this.#counted.set(own.row, own.card);
      this.#add(ofRow(own));
    }
  }

  /** The new card whose marker names the row; where the service shows no metadata, one that came with its amount. */
  #madeBy(move: MoveRow): string | undefined {
    if (move.operation !== 'cards.create') return undefined;
    const changes = [...this.#rest.changes.values()];
    const fresh = changes.flatMap(({ card_id, isNew }) => (isNew && !this.#made.has(card_id) ? [card_id] : []));
    const marked = fresh.find(card => markerIn(this.#evidence.cards.get(card)) === rowName(move));
    return marked ?? fresh.find(card => this.#rest.of(card) === move.cents);
  }

  /** Cards and ends of cards that no own row explains. */
  #foreignStates(): void {
    const ended = cardsOf(this.#evidence.moves, 'cards.terminate');
    const made = new Set([...this.#made, ...this.#counted.values()]);
    for (const { card_id, isNew, isOver, hasEnded, returned } of this.#rest.changes.values()) {
      if (isNew && this.#evidence.cards.has(card_id) && !made.has(card_id)) {
        const amount = isOver ? 0 : this.#rest.of(card_id);
        this.#rest.take(operatorCause(card_id, amount));
        this.#created.set(card_id, amount);
      }
      if (hasEnded && !ended.has(card_id)) {
        this.#add({ class: 'other_terminated', candidates: [card_id], cents: -returned, ...this.#markerNote(card_id) });
      }
    }
  }

  /** A card with our mark that no own row here made. */
  #markerNote(card: string): { readonly note?: string } {
    const isMarked = markerIn(this.#evidence.cards.get(card)) !== undefined;
    return isMarked && !this.#made.has(card)
      ? { note: 'it carries our mark: another machine of yours, or one that was refused here and made all the same' }
      : {};
  }

  /**
   * The base had the effect of records that were listed only after it, and they added up to nothing, so that it took them for
   * money that others had moved from card to card.
   */
  #listedLate(): void {
    const { spent, wallet, outside } = this.#rest;
    if (spent !== 0 || wallet !== 0 || outside.size < 2) return;
    const { fresh } = this.#evidence.records;
    const own = [...outside].flatMap(
      card => fresh.find(each => each.card_id === card && each.spent === this.#rest.of(card)) ?? [],
    );
    if (own.length < outside.size) return;
    for (const { card_id, spent: cents, tx_id } of own) {
      this.#rest.take({ card_id, card: cents, spent: 0, wallet: 0 });
      this.#note(card_id, cents, { ofWallet: false });
      this.#add({ class: 'listed_late', candidates: [card_id], cents, records: [tx_id] });
    }
  }

  /** A new record on one card, and opposite residuals of its amount on that card and another. */
  #wrongCards(): void {
    const fresh = new Map<number, NewRecord[]>();
    for (const record of this.#evidence.records.fresh) {
      addTo(fresh, record.spent, record);
    }
    for (const card of [...this.#rest.outside]) {
      const rest = this.#rest.of(card);
      // Neither the card itself nor one that is terminated has the opposite rest.
      const fitting = (fresh.get(-rest) ?? []).filter(record => this.#rest.of(record.card_id) === -rest);
      const [first] = fitting;
      if (first === undefined || !this.#rest.takeIfLess(...moved(first, card))) continue;
      const candidates = [card, ...new Set(fitting.map(record => record.card_id))];
      this.#add({ class: 'record_moved', candidates, cents: rest, records: fitting.map(record => record.tx_id) });
    }
  }

  #guesses(): void {
    const likely = new Set(this.#evidence.records.unlisted.map(({ card_id }) => card_id));
    for (const guess of search(this.#rest, { likely, created: this.#created })) this.#name(guess);
  }

  #name({ kind, amount, candidates }: Guess): void {
    if (kind === 'record') {
      const likely = this.#evidence.records.unlisted.filter(({ card_id }) => candidates.includes(card_id ?? ''));
      this.#add({ class: 'record_missing', candidates, cents: -amount, records: likely.map(({ tx_id }) => tx_id) });
      return;
    }
    const [only = ''] = candidates;
    // A card that somebody else made needs no second cause: the wallet says how much came with it.
    const fresh = candidates.find(card => this.#created.has(card));
    if (fresh !== undefined) {
      this.#created.set(fresh, (this.#created.get(fresh) ?? 0) + amount);
      return;
    }
    const rows = this.#rowsUndone(candidates, amount);
    if (rows.length > 0) {
      this.#add({ class: 'done_without_effect', candidates, cents: amount, rows });
      return;
    }
    this.#note(candidates.length === 1 ? only : undefined, amount);
    const name = amount > 0 ? 'other_funded' : 'other_withdrew';
    this.#add({ class: name, candidates, cents: amount, ...(candidates.length === 1 && this.#markerNote(only)) });
  }

  /** Own rows since the base that say they did what the balances say was undone. */
  #rowsUndone(candidates: readonly string[], amount: number): string[] {
    return this.#evidence.moves
      .filter(({ outcome, card_id }) => outcome === 'done' && card_id !== null && candidates.includes(card_id))
      .filter(move => this.#evidence.news.has(rowName(move)))
      .filter(
        ({ operation, cents }) =>
          (operation === 'cards.withdraw' ? cents : operation === 'cards.terminate' ? 0 : -cents) === amount,
      )
      .map(rowName);
  }

  #leftOver(): void {
    const { spent, wallet } = this.#rest;
    const { outside } = this.#rest;
    // Cards that could not be told apart are all named; without one, two totals of the service disagree.
    if (spent !== 0 && outside.size === 0) this.#add({ class: 'total_differs', candidates: [], cents: spent });
    if (spent !== 0 && outside.size > 0) {
      this.#add({ class: 'record_missing', candidates: [...outside].sort(), cents: -spent });
    }
    for (const card of [...this.#rest.outside].sort()) {
      const rest = this.#rest.of(card);
      this.#add({ class: rest < 0 ? 'unrecorded_debit' : 'unrecorded_credit', candidates: [card], cents: rest });
    }
    if (!this.#rest.fitsWallet(wallet)) this.#add({ class: 'wallet_unexplained', candidates: [], cents: wallet });
  }

  /**
   * Cards that others moved money on while a purchase is open there: ended cards of the first checkpoint may have taken the
   * difference. It is judged again from the same base once the holds have closed.
   */
  #blurred(): readonly string[] {
    const moved = this.#findings.filter(each => each.class.startsWith('other_')).flatMap(each => each.candidates);
    return [...new Set(moved)].filter(card => {
      const change = this.#rest.changes.get(card);
      return change !== undefined && isOpen(change);
    });
  }

  /** `released`: rest within the bounds of holds, a card that is not terminated. `carried`: what terminated ones carry, in the wallet. */
  #inBounds(): { readonly released: ReadonlyMap<string, number>; readonly carried: number } {
    const released = new Map<string, number>();
    for (const [card, rest] of this.#rest.withRest()) {
      if (this.#rest.outside.has(card)) continue;
      released.set(card, rest);
      // The holds of a first checkpoint that turn out lower were never known: no finding, once nothing is open.
      const change = this.#rest.changes.get(card);
      const isVerified = change !== undefined && change.high === 0 && change.low !== -Infinity;
      if (!isVerified) this.#add({ class: 'hold_released', candidates: [card], cents: rest });
    }
    const { wallet } = this.#rest;
    if (wallet === 0 || !this.#rest.fitsWallet(wallet)) return { released, carried: 0 };
    const open = [...this.#rest.changes.values()].filter(({ isOver, low, high }) => isOver && (high > 0 || low < 0));
    const candidates = open.some(isOpen) ? open.map(({ card_id }) => card_id) : this.#blurred();
    if (candidates.length > 0) this.#add({ class: 'hold_released', candidates, cents: wallet });
    return { released, carried: wallet };
  }
}

/** Cards of the own rows that do this. */
function cardsOf(moves: readonly MoveRow[], wanted: MoveRow['operation']): ReadonlySet<string | null> {
  return new Set(moves.filter(({ operation }) => operation === wanted).map(({ card_id }) => card_id));
}

function ofRow({ row, card, amount }: UnknownRow) {
  return { class: 'unknown_row_done', candidates: [card], cents: amount, rows: [row] } as const;
}

/** What a remark adds to the residuals when the account itself is as it was. */
function causeOf({ class: name, candidates: [card_id = '', other], cents }: Remark): readonly Cause[] | undefined {
  switch (name) {
    case 'record_gone':
      return [recordCause(card_id, -cents)];
    case 'record_changed':
    case 'duplicate':
      return [recordCause(card_id, cents)];
    case 'record_moved':
      return other === undefined ? undefined : moved({ card_id, spent: -cents, tx_id: '' }, other);
    case 'fee':
      return [{ card_id, card: cents, spent: 0, wallet: 0 }];
    default:
      return undefined;
  }
}

/** A record that stands on its card and belongs to another. */
function moved({ card_id, spent }: NewRecord, belongsTo: string): readonly Cause[] {
  return [
    { card_id, card: spent, spent: 0, wallet: 0 },
    { card_id: belongsTo, card: -spent, spent: 0, wallet: 0 },
  ];
}

/** `<op>.<row>` of this program in the metadata of a card. */
const markerIn = (card: CountedCard | undefined) => metadataValue(card?.metadata, 'cardwright');

// Which amounts of other spenders are not certain, because holds may have had a part of them.

/**
 * The findings, with those marked whose amount may have been another. `rest` is what they leave. An amount is certain where
 * its card has no hold to hide a part, where nothing else could have the difference, or where all of them leave no cent.
 */
function withUncertain(findings: readonly Finding[], rest: Unexplained): readonly Finding[] {
  const named = findings.filter(isMove);
  const blurred = [...rest.changes.values()].filter(each => isBlurred(each, rest));
  const wallet = rest.fromWallet();
  const isWalletBlurred = wallet.least < wallet.most;
  const leavesNothing = rest.wallet === 0 && named.every(each => each.candidates.every(card => rest.of(card) === 0));
  if (leavesNothing || blurred.length + Number(isWalletBlurred) < 2) return findings;
  const cards = new Set(blurred.map(({ card_id }) => card_id));
  const isProvisional = [...rest.changes.values()].some(
    each => isOpen(each) && (each.isOver || cards.has(each.card_id)),
  );
  return findings.map(each =>
    isMove(each) && each.candidates.some(card => cards.has(card))
      ? { ...each, isAbout: true, isProvisional: each.isProvisional || isProvisional }
      : each,
  );
}

/** What an ended card gave back is seen in the wallet alone and has findings of its own. */
function isMove(found: Finding): boolean {
  return isOfOthers(found) && found.class !== 'other_terminated';
}

function isBlurred({ card_id, isOver, low, high }: CardChange, rest: Unexplained): boolean {
  return !isOver && low < high && rest.isTouched(card_id);
}

/** A purchase on it may still close, and show what was held. */
function isOpen({ low, high }: CardChange): boolean {
  return high > 0 || low === -Infinity;
}
