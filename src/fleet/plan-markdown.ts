/** A plan as Markdown, for a pull request: foreign text can neither mention, link nor break the table. */
import { dollars, toCents } from '../core/money.ts';
import type { PlanDocument } from './plan-document.ts';
import { countsText, nothingText, type PlanLine, planLines, retireLines, walletAfterText } from './plan-lines.ts';

/** A comment of a pull request takes 65,536 characters. */
const LONGEST = 60_000;
const FOLDED = 50;

export interface MarkdownOptions {
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
