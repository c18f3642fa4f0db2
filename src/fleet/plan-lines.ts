/** One line for each thing that a plan says, the same for a terminal and for Markdown. */
import { type Cents, cents, centsOf, dollars, toCents } from '../core/money.ts';
import { printable } from '../terminal/printable.ts';
import type { Difference } from './compare.ts';
import { byName } from './plan.ts';
import type { PlanDocument } from './plan-document.ts';
import type { GuardedClass, NumberedStep } from './step.ts';

/** `-` takes away, `+` makes, `~` changes, `!` waits for a person, `?` is not known. */
export type Sign = '-' | '+' | '~' | '!' | '?';

export interface PlanLine {
  readonly sign: Sign;
  readonly name: string;
  /** Id; empty for a card that is yet to be made. */
  readonly card: string;
  readonly last4: string;
  /** `freeze`, `blocked`. */
  readonly what: string;
  readonly amount: Cents | undefined;
  readonly why: string;
  /** More lines below it. */
  readonly below: readonly string[];
}

/** Steps first, then what is blocked, unknown and held back, each by name. */
export function planLines(document: PlanDocument): readonly PlanLine[] {
  const { steps, blocked, unknown, held_back: heldBack } = document;
  const fixed = fixedByName(document);
  return [
    ...steps.map(lineOf),
    ...blocked.map(name => blockedLine(name, fixed.get(name) ?? [])),
    ...unknown.map(({ name, op }) => ({
      ...nothing(name),
      sign: '?' as const,
      what: 'unknown',
      why: `cardwright ops resume ${op}`,
    })),
    ...heldBack.flatMap(({ class: held, count, names }) => heldLines(held, count, names)),
  ];
}

const WHY: Readonly<Record<NumberedStep['why'], string>> = {
  new: 'new',
  recreated: 'its card is gone; a new number',
  replaces: 'takes the place of the card before',
  replaced: 'another card takes its place',
  removed: 'removed from the file; its money stays on it',
  retired: 'retired in the file',
  state: 'as the file says',
  below_floor: 'below its floor',
  drain: 'retired: its balance goes back',
  quarantine_over: 'its quarantine is over; the balance goes back',
};

const SIGN: Readonly<Record<NumberedStep['do'], Sign>> = {
  freeze: '-',
  withdraw: '-',
  terminate: '-',
  create: '+',
  fund: '~',
  unfreeze: '~',
};

function lineOf(step: NumberedStep): PlanLine {
  const { name, do: what } = step;
  const sign = SIGN[what];
  if (step.do === 'create') {
    const why = `${WHY[step.why]}; ${step.body.bin_id}`;
    return { ...nothing(name), sign, what, amount: toCents(step.body.amount), why };
  }
  const { card, last4 } = step;
  const amount = step.do === 'terminate' ? toCents(step.returns) : 'amount' in step ? toCents(step.amount) : undefined;
  const balance = 'amount' in step ? `balance ${dollars(toCents(step.seen.balance))}, ` : '';
  return { ...nothing(name), sign, card, last4, what, amount, why: `${balance}${WHY[step.why]}` };
}

function nothing(name: string) {
  return { name, card: '', last4: '', amount: undefined, below: [] };
}

function fixedByName({ differences }: PlanDocument): ReadonlyMap<string, readonly Difference[]> {
  const found = new Map<string, Difference[]>();
  for (const each of differences) {
    if (each.class !== 'fixed') continue;
    const ofName = found.get(each.name);
    if (ofName === undefined) found.set(each.name, [each]);
    else ofName.push(each);
  }
  return found;
}

function blockedLine(name: string, fixed: readonly Difference[]): PlanLine {
  const card = fixed[0]?.card ?? '';
  const why = fixed.map(({ field, is, wanted }) => `${field} ${valueText(is)} -> ${valueText(wanted)}`).join(', ');
  const back = fixed.map(({ field, is }) => `${field} ${valueText(is)}`).join(', ');
  const below = [`put back ${back}, or  replace: ${card}  (a new number; the old card is frozen first)`];
  return { ...nothing(name), sign: '!', card, what: 'blocked', why: `${why}, fixed at creation`, below };
}

function valueText(value: unknown): string {
  if (value === null || value === '') return 'none';
  if (typeof value === 'number') {
    const amount = centsOf(value);
    return amount === undefined ? String(value) : dollars(amount);
  }
  return Array.isArray(value) ? `[${value.map(valueText).join(', ')}]` : printable(String(value));
}

const HELD: Readonly<Record<GuardedClass, string>> = {
  unfreeze: 'frozen at the service',
  recreate: 'its card was terminated or retired',
  terminate: 'its quarantine is over',
  removals: 'the file removes more cards than one edit may',
};

function heldLines(held: GuardedClass, count: number, names: readonly string[]): readonly PlanLine[] {
  const why = `${HELD[held]}; --allow ${held}=${count}`;
  return [...names].sort(byName).map(name => ({ ...nothing(name), sign: '!' as const, what: 'held back', why }));
}

/** `1 to freeze, 2 to create`; empty where there is no step. */
export function countsText({ totals }: PlanDocument): string {
  const deeds = ['freeze', 'withdraw', 'terminate', 'create', 'fund', 'unfreeze'] as const;
  return deeds
    .filter(deed => totals[deed] > 0)
    .map(deed => `${totals[deed]} to ${deed}`)
    .join(', ');
}

/** What a plan without a step says; what waits for a person is no step. */
export function nothingText({ blocked, held_back: held, unknown }: PlanDocument): string {
  return blocked.length + held.length + unknown.length > 0 ? 'No step by itself' : 'Nothing to do';
}

/** Lines of a file, to be pasted below `retired:`. */
export function retireLines({ to_retire: cards, created_at: at }: PlanDocument): readonly string[] {
  const since = at.slice(0, 10);
  return cards.map(({ card }) => `  ${card}: {since: ${since}}`);
}

/** What is left in the wallet, and what keeps an apply from beginning. */
export function walletAfterText({ totals, caps }: Pick<PlanDocument, 'totals' | 'caps'>): string {
  const after = toCents(totals.wallet_after);
  const short = cents(toCents(caps.wallet_reserve) - after);
  const refused = totals.spend === 0 || short <= 0 ? '' : `, ${dollars(short)} short: fleet apply is refused`;
  return `wallet after ${dollars(after)}${refused}`;
}
