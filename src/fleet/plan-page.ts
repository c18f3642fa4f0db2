/** A plan for people: a line for each thing that it says. */

import { type Cents, cents, centsOf, dollars, toCents } from '../core/money.ts';
import { addTo } from '../core/objects.ts';
import { printable } from '../terminal/printable.ts';
import type { Difference } from './account.ts';
import { byName } from './plan.ts';
import { DEEDS, type PlanDocument } from './plan-file.ts';
import type { GuardedClass, NumberedStep } from './step.ts';

/** `-` takes away, `+` makes, `~` changes, `!` waits for a person, `?` is not known. */
type Sign = '-' | '+' | '~' | '!' | '?';

interface PlanLine {
  readonly sign: Sign;
  readonly name: string;
  /** Id and last four digits; none for a card that is yet to be made. */
  readonly card?: string;
  readonly last4?: string;
  /** `freeze`, `blocked`. */
  readonly what: string;
  readonly amount?: Cents | undefined;
  readonly why: string;
  /** More lines below it. */
  readonly below?: readonly string[];
}

/** Steps first, then what is blocked, unknown and held back, each by name. */
function planLines({ steps, blocked, unknown, held_back: heldBack, differences }: PlanDocument): readonly PlanLine[] {
  const fixed = new Map<string, Difference[]>();
  for (const each of differences) if (each.class === 'fixed') addTo(fixed, each.name, each);
  return [
    ...steps.map(lineOf),
    ...blocked.map(name => blockedLine(name, fixed.get(name) ?? [])),
    ...unknown.map(({ name, op }) => {
      return { sign: '?' as const, name, what: 'unknown', why: `cardwright ops resume ${op}` };
    }),
    ...heldBack.flatMap(({ class: held, count, names }) => {
      const why = `${HELD[held]}; --allow ${held}=${count}`;
      return [...names].sort(byName).map(name => ({ sign: '!' as const, name, what: 'held back', why }));
    }),
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
    return { sign, name, what, amount: toCents(step.body.amount), why };
  }
  const { card, last4 } = step;
  const amount = step.do === 'terminate' ? toCents(step.returns) : 'amount' in step ? toCents(step.amount) : undefined;
  const balance = 'amount' in step ? `balance ${dollars(toCents(step.seen.balance))}, ` : '';
  return { sign, name, card, last4, what, amount, why: `${balance}${WHY[step.why]}` };
}

function blockedLine(name: string, fixed: readonly Difference[]): PlanLine {
  const card = fixed[0]?.card ?? '';
  const why = fixed.map(({ field, is, wanted }) => `${field} ${valueText(is)} -> ${valueText(wanted)}`).join(', ');
  const back = fixed.map(({ field, is }) => `${field} ${valueText(is)}`).join(', ');
  const below = [`put back ${back}, or  replace: ${card}  (a new number; the old card is frozen first)`];
  return { sign: '!', name, card, what: 'blocked', why: `${why}, fixed at creation`, below };
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

/** `1 to freeze, 2 to create`; empty where there is no step. */
export function countsText({ totals }: PlanDocument): string {
  return DEEDS.filter(deed => totals[deed] > 0)
    .map(deed => `${totals[deed]} to ${deed}`)
    .join(', ');
}

// A plan for people on a terminal

const WIDEST_NAME = 24;
const LONGEST_ID = 12;

/** The whole page, with its line end; without `amounts` no balance, no amount and no wallet can be read in it. */
export function planText(document: PlanDocument, { amounts = true } = {}): string {
  const lines = planLines(document);
  const width = Math.min(WIDEST_NAME, Math.max(0, ...lines.map(({ name }) => name.length)));
  const body = lines.flatMap(line => [lineText(line, width), ...(line.below ?? []).map(each => `    ${each}`)]);
  const page = `${[headText(document), ...body, ...footLines(document)].join('\n')}\n`;
  return amounts ? page : page.replace(/\$[\d,]+\.\d{2}/g, '$…');
}

function headText({ fleet, bound, totals, cards_after: cards, strangers }: PlanDocument): string {
  const others = strangers === 1 ? '1 other card' : `${strangers} other cards`;
  const mode = bound.mode.toUpperCase();
  return `${fleet}: ${cards} ${cards === 1 ? 'card' : 'cards'} when done, ${others} untouched · ${mode} · wallet ${dollars(toCents(totals.wallet))}`;
}

function lineText({ sign, name, card = '', last4, what, amount, why }: PlanLine, width: number): string {
  const shownCard = card.length > LONGEST_ID ? `${card.slice(0, 5)}…${card.slice(-4)}` : card;
  const digits = last4 === undefined ? '' : `··${last4}`;
  const money = amount === undefined ? '' : dollars(amount);
  const columns = [
    sign,
    name.padEnd(width),
    shownCard.padEnd(LONGEST_ID),
    digits.padEnd(6),
    what.padEnd(9),
    money.padStart(9),
  ];
  return `${columns.join(' ')}  ${why}`.trimEnd();
}

function footLines(document: PlanDocument): readonly string[] {
  const { totals, caps, as_wanted: wanted, notes, differences, blocked, held_back: held, unknown } = document;
  const counts = countsText(document);
  // What waits for a person is no step.
  const nothing = blocked.length + held.length + unknown.length > 0 ? 'No step by itself' : 'Nothing to do';
  const after = toCents(totals.wallet_after);
  const short = cents(toCents(caps.wallet_reserve) - after);
  const refused = totals.spend === 0 || short <= 0 ? '' : `, ${dollars(short)} short: fleet apply is refused`;
  const spends = `spends ${dollars(toCents(totals.spend))} of ${dollars(toCents(caps.per_apply))}`;
  const noteCount = differences.filter(each => each.class === 'note').length;
  const since = document.created_at.slice(0, 10);
  const retire = document.to_retire.map(({ card }) => `  ${card}: {since: ${since}}`);
  return [
    counts === '' ? `${nothing}.` : `${counts} · ${spends} · wallet after ${dollars(after)}${refused}`,
    `${wanted} as wanted${noteCount === 0 ? '' : ` · ${noteCount} ${noteCount === 1 ? 'note is' : 'notes are'} other than in the file`}`,
    ...notes.map(note => `note: ${note}`),
    ...(retire.length === 0 ? [] : ['To retire them, for the file:', 'retired:', ...retire]),
  ];
}
