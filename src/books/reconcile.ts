/** One reconciliation: two positions, what explains their difference, the verdict and the checkpoint that is kept. */
import { cents } from '../core/money.ts';
import { type Classified, classify, type Evidence } from './classify.ts';
import { type Finding, finding, isOfOthers } from './findings.ts';
import { residualsSince } from './own-rows.ts';
import {
  type CardPosition,
  FIRST_RULES,
  NOTHING_YET,
  type Observed,
  type Position,
  positionOf,
  type Residuals,
  Unexplained,
} from './position.ts';
import type { RecordSums } from './records.ts';
import type { CheckpointCardRow, CheckpointRow, CountingRules, MoveRow } from './rows.ts';
import type { Checkpoint } from './statement-lines.ts';

export const VERDICTS = ['baseline', 'balanced', 'provisional', 'unexplained'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Wallet, cards, records and own rows of one instant, and the checkpoint they are compared with. */
export interface Reconciling extends Evidence, Observed {
  /** Undefined for the first checkpoint of an account. */
  readonly base: Checkpoint | undefined;
  /** Id of the checkpoint that this makes. */
  readonly checkpointId: string;
  /** ms UTC; every record has `first_seen` at or before it. */
  readonly at: number;
  readonly records: RecordSums;
}

export type Reconciled = ReturnType<typeof reconcile>;

interface Reading {
  readonly rules: CountingRules;
  readonly residuals: Residuals;
  readonly classified: Classified;
  readonly wrong: number;
  /** Findings about another spender. */
  readonly others: number;
  /** Absolute cents that holds explain only for now. */
  readonly provisional: number;
}

/** Compares, explains and judges. Throws `internal` when the sums do not close, which is a bug. */
export function reconcile(input: Reconciling) {
  const { base, cards, records, moves, news } = input;
  const before: Position = base
    ? { ...base.checkpoint, cards: new Map(base.cards.map(row => [row.card_id, row])) }
    : NOTHING_YET;
  const counted: ReadonlyMap<string, string> = new Map(
    Object.entries(JSON.parse(base?.checkpoint.counted_rows ?? '{}') as Record<string, string>),
  );
  const now = positionOf(input, counted);

  // Explained by each way to count that fitted so far.
  const asked = base === undefined ? FIRST_RULES : (JSON.parse(base.checkpoint.rules) as CountingRules[]);
  const evidence = { ...input, counted, cards: new Map(cards.map(card => [card.card_id, card])) };
  const readings: Reading[] = [];
  for (const rules of asked) {
    const residuals = residualsSince(before, now, { rules, moves, news, counted });
    const [first] = readings;
    // Where the rules in use explain everything, others need not be explained to be dropped.
    const isPlain = first?.wrong === 0 && first.others === 0 && first.provisional === 0;
    if (isPlain && new Unexplained(residuals).count() > 0) continue;
    const explained = base === undefined ? ofBaseline(residuals, records) : classify(residuals, evidence);
    const findings = [...explained.findings, ...totalsThatDiffer(input, now, rules)];
    const provisional = findings
      .filter(each => each.isProvisional)
      .reduce((sum, each) => sum + Math.abs(each.cents), 0);
    readings.push({
      rules,
      residuals,
      classified: { ...explained, findings },
      wrong: findings.filter(each => each.isWrong).length,
      others: findings.filter(isOfOthers).length,
      provisional: base === undefined ? Math.abs(residuals.identity) : provisional,
    });
  }
  const [best] = [...readings].sort(byFit);
  if (best === undefined) throw new RangeError('a checkpoint without counting rules');
  const { residuals } = best;
  const classified = namedAlike(best, readings);

  const isWrong = best.wrong > 0;
  const isProvisional = classified.findings.some(each => each.isProvisional);
  const isExact = !isWrong && !isProvisional;
  const good: Verdict = base === undefined ? 'baseline' : isProvisional ? 'provisional' : 'balanced';
  const verdict: Verdict = isWrong ? 'unexplained' : good;
  // Rules that explain this checkpoint, the best first: a later checkpoint may tell them apart.
  const fitting = isWrong ? readings : readings.filter(each => each.wrong === 0).sort(byFit);
  const rules = fitting.map(each => each.rules);
  // What counts as done from now on is in the sums that the next checkpoint is compared with.
  const all = new Map([...counted, ...classified.counted]);
  const { cards: keptCards, ...totals } = positionOf(input, all);
  const checkpoint: CheckpointRow = {
    cut_id: input.checkpointId,
    at_ms: input.at,
    exact: isExact ? 1 : 0,
    baseline: base === undefined ? 1 : 0,
    rules: JSON.stringify(rules),
    ...totals,
    carried_cents: cents(isExact ? 0 : (base?.checkpoint.carried_cents ?? 0) + classified.carried),
    counted_rows: JSON.stringify(Object.fromEntries(all)),
  };
  return {
    verdict,
    findings: [...classified.findings, ...purposesMissed(keptCards, before, moves)],
    /** Sum of the absolute amounts of what is wrong, integer cents. */
    residual: wrongCents(classified.findings),
    changes: [...residuals.cards.values()],
    wallet: walletChange(base?.checkpoint, now, residuals, classified),
    /** Rules in use first, then those that fit as well. */
    rules,
    classified,
    checkpoint,
    checkpointCards: [...keptCards.values()].map((card): CheckpointCardRow => {
      // Terminated cards share the wallet: a hold of the first checkpoint that was too high may hide what another released.
      const isShared = card.status === 'terminated' && residuals.walletLow < 0;
      const wasUnverified = base === undefined || isShared || (before.cards.get(card.card_id)?.unverified ?? 0) > 0;
      const isOpen = card.holds_cents > 0 || card.unverified === 2;
      // Below nothing a release is what the holds of the first checkpoint were too high by.
      const released = Math.max(0, classified.released.get(card.card_id) ?? 0);
      return {
        cut_id: input.checkpointId,
        ...card,
        holds_cents: Math.max(0, card.holds_cents - released),
        unverified: isOpen && wasUnverified ? card.unverified || 1 : 0,
      };
    }),
  };
}

/** What own rows do not explain is the baseline of a first checkpoint; only what disagrees with itself is wrong. */
function ofBaseline(residuals: Residuals, { remarks }: RecordSums): Classified {
  const findings: Finding[] = remarks.filter(each => each.class === 'over_refund');
  const { spent, identity, cards } = residuals;
  let [holds, isUnbounded] = [0, false];
  for (const { high, low } of cards.values()) {
    holds += high;
    isUnbounded ||= low === -Infinity;
  }
  const fits = (amount: number) => amount >= -holds && (amount <= 0 || isUnbounded);
  if (spent !== 0 && fits(identity)) {
    findings.push(finding({ class: 'record_missing', candidates: [...cards.keys()], cents: -spent }));
  } else if (spent !== 0 || !fits(identity)) {
    findings.push(finding({ class: 'total_differs', candidates: [], cents: spent === 0 ? identity : spent }));
  }
  return { findings, counted: new Map(), others: new Map(), released: new Map(), carried: 0, walletOther: 0 };
}

/** Numbers of one checkpoint that must agree whatever happened before. */
function totalsThatDiffer(
  { wallet, cards }: Reconciling,
  { cards: positions }: Position,
  rules: CountingRules,
): Finding[] {
  const shown = wallet.cards_total_balance_cents;
  if (shown === null) return [];
  let sum = 0;
  for (const { card_id } of cards) {
    const position = positions.get(card_id);
    if (position === undefined || position.status === 'terminated') continue;
    if (rules.cards_total_balance === 'all' || position.status === 'active') sum += position.balance_cents;
  }
  return shown === sum ? [] : [finding({ class: 'total_differs', candidates: [], cents: shown - sum })];
}

/**
 * Cards on which more was spent than they were given for a purpose, and those on which nothing was: they hold the money still, or
 * were terminated since the checkpoint before. None of them is wrong.
 */
function purposesMissed(cards: Position['cards'], before: Position, moves: readonly MoveRow[]): readonly Finding[] {
  const given = new Map<string, { cents: number; words: Set<string> } | undefined>();
  for (const { card_id, purpose, cents, outcome } of moves) {
    if (card_id === null || outcome !== 'done') continue;
    // A card whose first money was for nothing in particular may be used for anything.
    if (!given.has(card_id)) given.set(card_id, purpose == null ? undefined : { cents: 0, words: new Set() });
    const known = given.get(card_id);
    if (known === undefined || purpose == null) continue;
    known.cents += cents;
    known.words.add(purpose);
  }
  return [...given].flatMap(([card, money]) => {
    const position = cards.get(card);
    if (position === undefined || money === undefined) return [];
    const { cents: amount, words } = money;
    const { status } = position;
    const about = { candidates: [card], note: [...words].map(each => JSON.stringify(each)).join(', ') };
    const spentOf = (of: CardPosition) => of.settled_cents - of.refunded_cents;
    const spent = spentOf(position);
    const wasKnown = before.cards.get(card);
    if (spent > amount && spent !== (wasKnown === undefined ? 0 : spentOf(wasKnown)))
      return [finding({ class: 'beyond_purpose', cents: amount - spent, ...about })];
    const isNews = status === 'terminated' ? wasKnown?.status !== 'terminated' : position.balance_cents > 0;
    const isUsed = position.settled_cents > 0 || position.holds_cents > 0 || position.unverified === 2;
    if (isUsed || !isNews) return [];
    return [finding({ class: 'purpose_unspent', cents: amount, ...about })];
  });
}

/** Absolute cents of what is wrong. What two findings say of one record counts once. */
function wrongCents(findings: readonly Finding[]): number {
  const seen = new Set<string>();
  let sum = 0;
  for (const { isWrong, records, cents } of findings) {
    if (!isWrong || records.some(id => seen.has(id))) continue;
    for (const id of records) seen.add(id);
    sum += Math.abs(cents);
  }
  return sum;
}

/**
 * Nothing wrong first, then no other spender, then nothing provisional; of equals the earlier one, which is the default.
 * Less provisional is no reason to leave the default: where holds are inside of balances, some always is.
 */
function byFit(a: Reading, b: Reading): number {
  return (
    Math.sign(a.wrong) - Math.sign(b.wrong) ||
    (a.wrong > 0 ? 0 : a.others - b.others || Number(a.provisional > 0) - Number(b.provisional > 0))
  );
}

/**
 * What other spenders moved is a guess while another way to count explains the checkpoint with other amounts: a base on wrong
 * rules would be wrong by the difference. Later checkpoints tell the two apart.
 */
function namedAlike({ classified, wrong }: Reading, readings: readonly Reading[]): Classified {
  const named = (of: Classified) =>
    JSON.stringify(of.findings.filter(isOfOthers).map(each => [each.class, each.candidates, each.cents, each.isAbout]));
  const isAgreed = readings.every(each => each.wrong > 0 || named(each.classified) === named(classified));
  if (wrong > 0 || isAgreed || !classified.findings.some(isOfOthers)) return classified;
  const findings = classified.findings.map(each =>
    isOfOthers(each) ? { ...each, isProvisional: true, isAbout: true } : each,
  );
  return { ...classified, findings };
}

/**
 * The wallet from checkpoint to checkpoint, integer cents: closing = opening + deposits - created - funded + withdrawn + returned +
 * other + residual. Only the last two may be negative. Of a first checkpoint, what own rows do not explain is where the books
 * begin, and so is it of others.
 */
function walletChange(
  base: CheckpointRow | undefined,
  now: Position,
  residuals: Residuals,
  { carried, walletOther }: Classified,
) {
  const sums = { created: 0, funded: 0, withdrawn: 0 };
  let [back, taken] = [carried, walletOther];
  for (const change of residuals.cards.values()) {
    sums.created += change.created;
    sums.funded += change.funded;
    sums.withdrawn += change.withdrawn;
    back += Math.max(0, change.returned);
    taken += Math.min(0, change.returned);
  }
  const left = residuals.wallet - walletOther - carried;
  const residual = base === undefined ? 0 : left;
  const returned = Math.max(0, back);
  const other = taken + Math.min(0, back) + left - residual;
  const opening = base?.wallet_cents ?? 0;
  return { opening, deposits: residuals.deposits, ...sums, returned, other, residual, closing: now.wallet_cents };
}
