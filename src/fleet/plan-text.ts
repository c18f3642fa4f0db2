/** A plan for people on a terminal: a sign in the first column, so that it reads without colour. */
import { dollars, toCents } from '../core/money.ts';
import type { PlanDocument } from './plan-document.ts';
import { countsText, nothingText, type PlanLine, planLines, retireLines, walletAfterText } from './plan-lines.ts';

const WIDEST_NAME = 24;
const LONGEST_ID = 12;

/** The whole page, with its line end. */
export function planText(document: PlanDocument): string {
  const lines = planLines(document);
  const width = Math.min(WIDEST_NAME, Math.max(0, ...lines.map(({ name }) => name.length)));
  const body = lines.flatMap(line => [lineText(line, width), ...line.below.map(each => `    ${each}`)]);
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
  return `${columns.join(' ')}  ${why}`.trimEnd();
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
