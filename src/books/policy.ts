/** Cards held against a policy, and the changes that it asks for within its caps. Nothing is sent here. */
import { type Cents, cents, toUsd } from '../core/money.ts';
import type { Activities } from './activity.ts';
import { type FactKind, type FactValue, SEVERITIES, type Severity } from './facts.ts';
import type { Policy, Rule } from './policy-file.ts';
import type { CardRow } from './rows.ts';

/** What is done to a card; of a withdrawal what is taken, and what the card keeps. */
interface Change {
  readonly operation: 'cards.freeze' | 'cards.withdraw';
  readonly amount?: Cents;
  readonly keep?: Cents;
}

export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly card: CardRow;
  /** What the rule asked for, as JSON: days and counts, USD, percent, texts. */
  readonly facts: Readonly<Record<string, number | boolean | string | readonly string[] | null>>;
  /** Undefined where the rule asks for nothing, and where the card is there already. */
  readonly change: Change | undefined;
}

/** Cards that the service does not know any more are left out. */
export function evaluatePolicy(policy: Policy, all: Iterable<CardRow>, known: Activities) {
  const found: { readonly nth: number; readonly finding: Finding }[] = [];
  /** Cards that a rule could not be held against, because a fact of them is not known. */
  const skipped = new Map<string, { readonly rule: string; readonly fact: string; cards: number }>();
  /** Cards that at least one rule speaks of. */
  const spokenOf = new Set<CardRow>();
  for (const card of all) {
    if (card.gone_at !== null) continue;
    for (const [nth, rule] of policy.rules.entries()) {
      if (!rule.chooses(card)) continue;
      spokenOf.add(card);
      const held = rule.when.map(({ fact, kind, of, holds }) => {
        const value = of(card, known);
        return { fact, shown: plainFact(kind, value), holds: holds(value) };
      });
      if (held.some(({ holds }) => holds === false)) continue;
      // Everything that is known holds: the first fact that is not known is named.
      const missing = held.find(({ holds }) => holds === undefined);
      if (missing === undefined) {
        const facts = Object.fromEntries(held.map(({ fact, shown }) => [fact, shown]));
        const { name, severity, then } = rule;
        found.push({ nth, finding: { rule: name, severity, card, facts, change: changeOf(then, card) } });
        continue;
      }
      const key = `${rule.name} ${missing.fact}`;
      const entry = skipped.get(key) ?? { rule: rule.name, fact: missing.fact, cards: 0 };
      entry.cards += 1;
      skipped.set(key, entry);
    }
  }
  const rank = ({ finding }: { readonly finding: Finding }) => SEVERITIES.indexOf(finding.severity);
  found.sort((a, b) => rank(a) - rank(b) || a.nth - b.nth);
  // The worst severity first, then in the order of the rules, then of the cards.
  return { cards: spokenOf.size, findings: found.map(({ finding }) => finding), skipped: [...skipped.values()] };
}

/** A frozen card is not frozen again; a card with the money to keep or less gives nothing. */
function changeOf(then: Rule['then'], { status, balance_cents }: CardRow): Change | undefined {
  if (then === 'freeze') return status === 'active' ? { operation: 'cards.freeze' } : undefined;
  if (then === undefined || balance_cents === null || (status !== 'active' && status !== 'frozen')) return undefined;
  const { keep } = then.withdraw;
  return balance_cents > keep ? { operation: 'cards.withdraw', amount: cents(balance_cents - keep), keep } : undefined;
}

function plainFact(kind: FactKind, value: FactValue): Finding['facts'][string] {
  if (kind === 'flag') return Array.isArray(value) && value.length > 0;
  if (value === undefined) return null;
  if (typeof value !== 'number') return value.length > 1 ? value : (value[0] ?? '');
  if (kind === 'money') return toUsd(cents(value));
  return kind === 'percent' ? Math.round(value) / 100 : value;
}

// What a policy would change, card by card, and whether that is more than it may.

/** One change, and the rule that asks for it. */
export interface PlannedChange extends Change {
  readonly rule: string;
  readonly card: CardRow;
}

/** Freezes first, each card at most once frozen and once withdrawn from: of several withdrawals the largest does what all of them say. */
export function planChanges(findings: readonly Finding[]): readonly PlannedChange[] {
  const changes = new Map<string, PlannedChange>();
  for (const operation of ['cards.freeze', 'cards.withdraw'])
    for (const { rule, card, change } of findings) {
      if (change?.operation !== operation) continue;
      const planned: PlannedChange = { rule, card, ...change };
      const known = changes.get(nameOf(planned));
      if (known === undefined || (planned.amount ?? 0) > (known.amount ?? 0)) changes.set(nameOf(planned), planned);
    }
  return [...changes.values()];
}

const nameOf = ({ operation, card }: Pick<PlannedChange, 'operation' | 'card'>) => `${operation} ${card.card_id}`;

export type JudgedAgain = ReturnType<typeof judgedAgain>;

/** What is asked for by the cards as they are now, against what was asked for before. */
export function judgedAgain(before: readonly PlannedChange[], now: readonly Finding[]) {
  // What no rule asked for before was held against no cap.
  const asked = new Set(before.map(nameOf));
  const changes: readonly PlannedChange[] = planChanges(now).filter(change => asked.has(nameOf(change)));
  const still = new Set(changes.map(nameOf));
  // `over` are those that are not asked for any more.
  return { changes, over: before.filter(change => !still.has(nameOf(change))) };
}

/** Bounds of what one run may touch: cards, and hundredths of a percent of the cards that are not terminated. */
export interface Caps {
  readonly maxCards: number;
  readonly maxShare: number;
}

export type CapsBroken = NonNullable<ReturnType<typeof brokenCaps>>;

/** Undefined while the plan keeps within both caps. */
export function brokenCaps(changes: readonly PlannedChange[], notTerminated: number, { maxCards, maxShare }: Caps) {
  const touched = new Set(changes.map(({ card }) => card.card_id)).size;
  const broken: ('maxCards' | 'maxShare')[] = [];
  if (touched > maxCards) broken.push('maxCards');
  if (touched * 10_000 > maxShare * notTerminated) broken.push('maxShare');
  return broken.length === 0 ? undefined : { touched, of: notTerminated, broken };
}

/** Sum of what is withdrawn. */
export function withdrawnBy(changes: readonly PlannedChange[]): Cents {
  return cents(changes.reduce((sum, { amount = 0 }) => sum + amount, 0));
}
