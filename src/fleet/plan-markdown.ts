/** A plan as Markdown, for a pull request: foreign text can neither mention, link nor break the table. */
import { dollars, toCents } from '../core/money.ts';
import type { PlanDocument } from './plan-document.ts';
import { countsText, type PlanLine, planLines, retireLines, walletAfterText } from './plan-lines.ts';

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
    `${counts === '' ? 'Nothing to do' : counts}${money === '' ? '' : ` · ${money}`} · ${id}, until ${expires}`,
    '',
  ];
  const foot = [
    ...waiting.map(line => `- ${waitingText(line, amounts)}`),
    ...notes.map(note => `- note: ${amounts ? escaped(note) : escaped(withoutMoney(note))}`),
    ...fenced(retireLines(document)),
  ];
  return fitted(head, tableOf(steps, amounts), foot);
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

function fenced(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', 'To retire, for the file:', '', '```yaml', 'retired:', ...lines, '```'];
}

/** Rows that do not fit are counted. */
function fitted(head: readonly string[], table: readonly string[], foot: readonly string[]): string {
  const [titles, rows] = [table.slice(0, 2), table.slice(2)];
  const folds = rows.length > FOLDED;
  const around = [...head, ...titles, ...foot].join('\n').length + 200;
  let [length, taken] = [around, 0];
  while (taken < rows.length && length + (rows[taken]?.length ?? 0) + 1 < LONGEST) {
    length += (rows[taken]?.length ?? 0) + 1;
    taken += 1;
  }
  const left = rows.length - taken;
  const body = [
    ...(folds ? ['<details>', `<summary>${rows.length} steps</summary>`, ''] : []),
    ...titles,
    ...rows.slice(0, taken),
    ...(left > 0 ? ['', `and ${left} more steps`] : []),
    ...(folds ? ['', '</details>'] : []),
    ...(rows.length > 0 ? [''] : []),
  ];
  return `${[...head, ...body, ...foot].join('\n').trimEnd().slice(0, LONGEST)}\n`;
}

function withoutMoney(text: string): string {
  return text.replace(/\$[\d,]+\.\d{2}/g, '$…');
}

const SPECIAL = /[\\`*_{}[\]<>()#+!|@~&]|:\/\//g;

function escaped(text: string): string {
  return text.replace(SPECIAL, found => (found === '://' ? '&#58;//' : `&#${found.charCodeAt(0)};`));
}
