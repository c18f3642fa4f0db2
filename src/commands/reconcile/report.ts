/** The report of a reconciliation as JSON: amounts in USD, a promise to scripts. */
import { type Finding, nextCommand, sentence } from '../../books/finding.ts';
import type { CardChange } from '../../books/residuals.ts';
import { cents, toUsd, type Usd } from '../../core/money.ts';
import type { Reconciliation } from '../../mirror/reconcile.ts';

export interface FindingAnswer {
  readonly class: string;
  readonly candidates: readonly string[];
  readonly amount: Usd;
  readonly records: readonly string[];
  readonly rows: readonly string[];
  readonly provisional: boolean;
  /** Holds may have had a part of the amount. */
  readonly about: boolean;
  /** The finding makes the verdict `unexplained`. */
  readonly wrong: boolean;
  readonly text: string;
  readonly next: string | null;
}

/** closing = opening + funded - withdrawn - returned - settled + refunded - holds_change + other + residual */
export interface CardAnswer {
  readonly card_id: string;
  readonly last4: string | null;
  readonly label: string | null;
  readonly opening: Usd;
  readonly funded: Usd;
  readonly withdrawn: Usd;
  readonly settled: Usd;
  readonly refunded: Usd;
  readonly holds_change: Usd;
  readonly returned: Usd;
  readonly other: Usd;
  readonly residual: Usd;
  readonly closing: Usd;
}

export type Report = ReturnType<typeof reportOf>;

const usd = (amount: number) => toUsd(cents(amount));
const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');

export interface ReportOptions {
  /** Cards that did not move, too. */
  readonly all: boolean;
  /** This card alone, and what was found about it. */
  readonly card?: string | undefined;
}

export function reportOf(done: Reconciliation, { all, card }: ReportOptions) {
  const isAsked = (id: string) => card === undefined || id === card;
  const found = done.findings.filter(
    ({ candidates }) => card === undefined || candidates.length === 0 || candidates.includes(card),
  );
  const named = new Set(found.flatMap(each => (each.candidates.length === 1 ? each.candidates : [])));
  const cards = new Map(done.cards.map(row => [row.card_id, row]));
  const shown = done.changes
    .filter(
      change => isAsked(change.card_id) && (all || card !== undefined || named.has(change.card_id) || moved(change)),
    )
    .map((change): CardAnswer => cardAnswer(change, done, cards.get(change.card_id)));
  const { wallet } = done;
  return {
    from: done.from === undefined ? null : { cut: done.from.cut_id, at: time(done.from.at_ms) },
    to: { cut: done.cut.cut_id, at: time(done.cut.at_ms), exact: done.cut.exact === 1 },
    verdict: done.verdict,
    residual: usd(done.residual),
    requests: done.requests,
    cards_in_all: done.changes.length,
    left_out: done.leftOut,
    wallet: Object.fromEntries(Object.entries(wallet).map(([name, amount]) => [name, usd(amount)])) as Record<
      keyof typeof wallet,
      Usd
    >,
    cards: shown,
    findings: found.map(findingAnswer),
  };
}

function moved(change: CardChange): boolean {
  const { opening, closing, created, funded, withdrawn, settled, refunded, holds, returned, residual } = change;
  return [closing - opening, created, funded, withdrawn, settled, refunded, holds, returned, residual].some(Boolean);
}

function cardAnswer(
  change: CardChange,
  { classified, from }: Reconciliation,
  card: { readonly last4: string | null; readonly label: string | null } | undefined,
): CardAnswer {
  const released = classified.released.get(change.card_id) ?? 0;
  // Of a first cut, what own rows do not explain is where the books begin. What a card gave back above what it had by
  // own rows came from others before.
  const unowned = from === undefined ? change.residual : (classified.others.get(change.card_id) ?? 0);
  const other = change.isOver ? Math.max(0, -change.returned) : unowned;
  return {
    card_id: change.card_id,
    last4: card?.last4 ?? null,
    label: card?.label ?? null,
    opening: usd(change.opening),
    funded: usd(change.created + change.funded),
    withdrawn: usd(change.withdrawn),
    settled: usd(change.settled),
    refunded: usd(change.refunded),
    holds_change: usd(change.holds - released),
    returned: usd(Math.max(0, change.returned)),
    other: usd(other),
    residual: usd(change.isOver ? 0 : change.residual - other - released),
    closing: usd(change.closing),
  };
}

function findingAnswer(found: Finding): FindingAnswer {
  return {
    class: found.class,
    candidates: found.candidates,
    amount: usd(found.cents),
    records: found.records,
    rows: found.rows,
    provisional: found.isProvisional,
    about: found.isAbout,
    wrong: found.isWrong,
    text: sentence(found),
    next: nextCommand(found) ?? null,
  };
}
