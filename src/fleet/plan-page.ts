/** A plan for people: a line for each thing that it says, on a terminal and in Markdown. */
import { type Cents, cents, centsOf, dollars, toCents } from '../core/money.ts';
import { printable } from '../terminal/printable.ts';
import type { Difference } from './account.ts';
import { byName } from './plan.ts';
import type { PlanDocument } from './plan-file.ts';
import type { GuardedClass, NumberedStep } from './step.ts';

/** `-` takes away, `+` makes, `~` changes, `!` waits for a person, `?` is not known. */
type Sign = '-' | '+' | '~' | '!' | '?';

interface PlanLine {
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
function nothingText({ blocked, held_back: held, unknown }: PlanDocument): string {
  return blocked.length + held.length + unknown.length > 0 ? 'No step by itself' : 'Nothing to do';
}

/** Lines of a file, to be pasted below `retired:`. */
function retireLines({ to_retire: cards, created_at: at }: PlanDocument): readonly string[] {
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

// A plan for people on a terminal

const WIDEST_NAME = 24;
const LONGEST_ID = 12;

/** The whole page, with its line end. */
export function planText(document: PlanDocument): string {
  const lines = planLines(document);
  const width = Math.min(WIDEST_NAME, Math.max(0, ...lines.map(({ name }) => name.length)));
  const body = lines.flatMap(line => [lineText(line, width), ...line.below.map(each => wrapped('    ', each))]);
  return `${[headText(document), ...body, ...footLines(document)].join('\n')}\n`;
}

function headText({ fleet, bound, totals, cards_after: cards, strangers }: PlanDocument): string {
  const others = strangers === 1 ? '1 other card' : `${strangers} other cards`;
  const mode = bound.mode.toUpperCase();
  return `${fleet}: ${cards} ${cards === 1 ? 'card' : 'cards'} when done, ${others} untouched · ${mode} · wallet ${dollars(toCents(totals.wallet))}`;
}

function lineText({ sign, name, card, last4, what, amount, why }: PlanLine, width: number): string {
  const shownCard = card.length > LONGEST_ID ? `${card.slice(0, 5)}…${card.slice(-4)}` : card;
  const digits = last4 === '' ? '' : `··${last4}`;
  const money = amount === undefined ? '' : dollars(amount);
  const columns = [
    sign,
    name.padEnd(width),
    shownCard.padEnd(LONGEST_ID),
    digits.padEnd(6),
    what.padEnd(9),
    money.padStart(9),
  ];
  return wrapped(`${columns.join(' ')}  `, why);
}

const WIDEST_LINE = 100;

/** A text behind a head; what is too long goes on below, at its column. */
function wrapped(head: string, text: string): string {
  const lines: string[] = [];
  let line = head;
  for (const word of text.split(' ')) {
    const isFull = line.length + word.length > WIDEST_LINE && line.trimEnd().length > head.trimEnd().length;
    if (isFull) lines.push(line.trimEnd());
    line = `${isFull ? ' '.repeat(head.length) : line}${word} `;
  }
  return [...lines, line.trimEnd()].join('\n');
}

function footLines(document: PlanDocument): readonly string[] {
  const { totals, caps, as_wanted: wanted, notes, differences } = document;
  const counts = countsText(document);
  const money = `spends ${dollars(toCents(totals.spend))} of ${dollars(toCents(caps.per_apply))} · ${walletAfterText(document)}`;
  const noteCount = differences.filter(each => each.class === 'note').length;
  const retire = retireLines(document);
  return [
    counts === '' ? `${nothingText(document)}.` : `${counts} · ${money}`,
    `${wanted} as wanted${noteCount === 0 ? '' : ` · ${noteCount} ${noteCount === 1 ? 'note is' : 'notes are'} other than in the file`}`,
    ...notes.map(note => `note: ${note}`),
    ...(retire.length === 0 ? [] : ['To retire them, for the file:', 'retired:', ...retire]),
  ];
}

// A plan as Markdown, for a pull request

/** A comment of a pull request takes 65,536 characters. */
const LONGEST = 60_000;
const FOLDED = 50;

interface MarkdownOptions {
  /** Left out: balances, amounts and the wallet. */
  readonly amounts: boolean;
}

/** The whole page, with its line end, under 60,000 characters. */
export function planMarkdown(document: PlanDocument, { amounts }: MarkdownOptions): string {
  const { fleet, bound, id, expires_at: expires, totals, notes } = document;
  const lines = planLines(document);
  const steps = lines.filter(({ sign }) => sign !== '!' && sign !== '?');
  const waiting = lines.filter(({ sign }) => sign === '!' || sign === '?');
  const money = amounts ? `spends ${dollars(toCents(totals.spend))} · ${walletAfterText(document)}` : '';
  const counts = countsText(document);
  const head = [
    `### Cards of ${escaped(fleet)} (${escaped(bound.mode)})`,
    '',
    `${counts === '' ? nothingText(document) : counts}${money === '' ? '' : ` · ${money}`} · ${id}, until ${expires}`,
    '',
  ];
  const table = tableOf(steps, amounts);
  const parts = [
    { before: table.slice(0, 2), lines: table.slice(2), after: [''], noun: 'steps' },
    { before: [], lines: waiting.map(line => `- ${waitingText(line, amounts)}`), after: [], noun: 'cards that wait' },
    { before: [], lines: notes.map(note => `- note: ${noteText(note, amounts)}`), after: [], noun: 'notes' },
    {
      before: ['', 'To retire, for the file:', '', '```yaml', 'retired:'],
      lines: retireLines(document),
      after: ['```'],
      noun: 'cards to retire',
    },
  ];
  return `${[...head, ...fitted(parts, LONGEST - head.join('\n').length)].join('\n').trimEnd()}\n`;
}

function noteText(note: string, amounts: boolean): string {
  return escaped(amounts ? note : withoutMoney(note));
}

function tableOf(steps: readonly PlanLine[], amounts: boolean): readonly string[] {
  if (steps.length === 0) return [];
  const columns = ['', 'card', 'last 4', 'step', ...(amounts ? ['amount'] : []), 'why'];
  const rows = steps.map(({ sign, name, last4, what, amount, why }) => {
    const money = amounts ? [amount === undefined ? '' : dollars(amount)] : [];
    const reason = amounts ? why : withoutMoney(why);
    return `| ${[`\`${sign}\``, escaped(name), last4, what, ...money, escaped(reason)].join(' | ')} |`;
  });
  return [`| ${columns.join(' | ')} |`, `|${columns.map(() => '---|').join('')}`, ...rows];
}

function waitingText({ sign, name, what, why }: PlanLine, amounts: boolean): string {
  return `\`${sign}\` **${escaped(name)}** ${what}: ${escaped(amounts ? why : withoutMoney(why))}`;
}

/** Lines of a page that belong together. */
interface Part {
  readonly before: readonly string[];
  readonly lines: readonly string[];
  readonly after: readonly string[];
  /** What the lines are, where some of them are left out. */
  readonly noun: string;
}

/** What a fold and a count of what is left out take. */
const AROUND = 200;

/** All parts in so many characters. Each may take its share, and what the parts below it have left. */
function fitted(parts: readonly Part[], room: number): readonly string[] {
  const shown: (readonly string[])[] = [];
  let [left, waiting] = [room, parts.length];
  for (const part of [...parts].reverse()) {
    const lines = partText(part, Math.floor(left / waiting));
    left -= lines.join('\n').length + 1;
    waiting -= 1;
    shown.unshift(lines);
  }
  return shown.flat();
}

/** Lines that do not fit are counted. */
function partText({ before, lines, after, noun }: Part, room: number): readonly string[] {
  if (lines.length === 0) return [];
  let length = [...before, ...after].join('\n').length + AROUND;
  let taken = 0;
  while (taken < lines.length && length + (lines[taken]?.length ?? 0) + 1 < room) {
    length += (lines[taken]?.length ?? 0) + 1;
    taken += 1;
  }
  const body = [...before, ...lines.slice(0, taken), ...after];
  const rest = lines.length - taken;
  const whole = rest === 0 ? body : [...body, '', `and ${rest} more ${noun}`, ''];
  if (lines.length <= FOLDED) return whole;
  return ['<details>', `<summary>${lines.length} ${noun}</summary>`, '', ...whole, '', '</details>', ''];
}

function withoutMoney(text: string): string {
  return text.replace(/\$[\d,]+\.\d{2}/g, '$…');
}

const SPECIAL = /[\\`*_{}[\]<>()#+!|@~&]|:\/\//g;

function escaped(text: string): string {
  return text.replace(SPECIAL, found => (found === '://' ? '&#58;//' : `&#${found.charCodeAt(0)};`));
}
