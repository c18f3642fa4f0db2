/** A finding of a reconciliation: its class, its exact amount, the cards it may be about, and what to do next. */
import { cents, dollars } from '../core/money.ts';
import type { Structure } from './records.ts';

export const FINDING_CLASSES = [
  'fx',
  'tip',
  'over_settled',
  'partial',
  'force_post',
  'late_refund',
  'fee',
  'hold_released',
  'unknown_row_done',
  'other_funded',
  'other_withdrew',
  'other_created',
  'other_terminated',
  'done_without_effect',
  'record_missing',
  'record_changed',
  'record_gone',
  'record_moved',
  'listed_late',
  'duplicate',
  'over_refund',
  'unrecorded_debit',
  'unrecorded_credit',
  'wallet_unexplained',
  'total_differs',
  'beyond_purpose',
  'purpose_unspent',
] as const;
export type FindingClass = (typeof FINDING_CLASSES)[number];

/** Classes that are wrong whatever else is found: exit 15. */
const WRONG: ReadonlySet<FindingClass> = new Set([
  'done_without_effect',
  'record_missing',
  'record_changed',
  'record_gone',
  'record_moved',
  'over_refund',
  'unrecorded_debit',
  'unrecorded_credit',
  'wallet_unexplained',
  'total_differs',
]);

const OTHERS: ReadonlySet<FindingClass> = new Set([
  'other_funded',
  'other_withdrew',
  'other_created',
  'other_terminated',
]);

export interface Finding {
  readonly class: FindingClass;
  /** The finding makes the verdict `unexplained`. */
  readonly isWrong: boolean;
  /** A guess that holds may still explain otherwise; it is judged again until the authorization closes. */
  readonly isProvisional: boolean;
  /** Holds may have had a part of the amount, and nothing tells how much. */
  readonly isAbout: boolean;
  /** One, or all that explain the same amount equally well; none when it is about the wallet or the account. */
  readonly candidates: readonly string[];
  /** Signed effect on the card, or on the wallet; integer cents. */
  readonly cents: number;
  /** Ids of the records that show it. */
  readonly records: readonly string[];
  /** Own rows, `<op>.<row>`. */
  readonly rows: readonly string[];
  /** More about it, a clause. */
  readonly note: string | undefined;
}

export type FindingFacts = Pick<Finding, 'class' | 'candidates' | 'cents'> &
  Partial<Pick<Finding, 'records' | 'rows' | 'isWrong' | 'note'>>;

/** A finding with all its parts. `soleOperator`: nobody else may move money, so `other_…` is wrong. */
export function finding(facts: FindingFacts, { soleOperator = false } = {}): Finding {
  const { class: name, candidates, cents, records = [], rows = [], note } = facts;
  const isOther = OTHERS.has(name);
  return {
    class: name,
    isWrong: facts.isWrong ?? (WRONG.has(name) || (isOther && soleOperator)),
    isProvisional: name === 'hold_released',
    isAbout: false,
    candidates,
    cents,
    records,
    rows,
    note,
  };
}

/** About what another spender moved, made or ended. */
export function isOfOthers({ class: name }: Pick<Finding, 'class'>): boolean {
  return OTHERS.has(name);
}

/** One sentence without a full stop. */
export function sentence({ class: name, cents: amount, candidates, note, isAbout }: Finding): string {
  const about = isAbout ? ['about: holds blur how much'] : [];
  return [TEXTS[name](amount, candidates), ...about, ...(note === undefined ? [] : [note])].join('; ');
}

/** What to do next: a command that works when it is copied, if anything is to be done. */
export function nextCommand(found: Finding): string | undefined {
  return NEXT[found.class](found);
}

/** What records showed by themselves. */
export function findingOf(structure: Structure, isWrong?: boolean): Finding | undefined {
  if (structure.kind === 'settlement_not_listed') return undefined;
  const { kind, card_id, other_card, cents: amount, records } = structure;
  const candidates = other_card === undefined ? [card_id] : [card_id, other_card];
  return finding({ class: kind, candidates, cents: amount, records, ...(isWrong !== undefined && { isWrong }) });
}

type Text = (amount: number, candidates: readonly string[]) => string;

const shown = (amount: number) => dollars(cents(Math.abs(amount)));
const where = (candidates: readonly string[]) =>
  candidates.length > 1 ? `, on one of ${candidates.length} cards` : '';
const onSome = (candidates: readonly string[]) =>
  candidates.length > 1 ? `, on one or more of ${candidates.length} cards` : '';

const TEXTS: Readonly<Record<FindingClass, Text>> = {
  fx: amount => `settled ${shown(amount)} ${moreOrLess(amount)} than authorized, in another country`,
  tip: amount => `settled ${shown(amount)} more than authorized: a tip`,
  over_settled: amount => `settled ${shown(amount)} more than authorized`,
  partial: amount => `settled ${shown(amount)} less than authorized; the rest was released`,
  force_post: amount => `settled ${shown(amount)} without an open authorization`,
  late_refund: amount => `refunded ${shown(amount)} long after the settlement or on a terminated card`,
  fee: amount => `a record of an unknown type explains ${shown(amount)}`,
  hold_released: (amount, candidates) =>
    amount < 0
      ? `${shown(amount)} less was held when the books began than shown, or a purchase does not show what it authorized${where(candidates)}`
      : `${shown(amount)} of open holds seem released${where(candidates)}`,
  unknown_row_done: amount => `${shown(amount)}: an own row of unknown outcome is done`,
  other_funded: (amount, candidates) => `funded ${shown(amount)} by another spender${onSome(candidates)}`,
  other_withdrew: (amount, candidates) => `${shown(amount)} withdrawn by another spender${onSome(candidates)}`,
  other_created: amount => `created with ${shown(amount)} by another spender`,
  other_terminated: amount => `terminated by another spender; ${shown(amount)} went back to the wallet`,
  done_without_effect: (amount, candidates) =>
    `${shown(amount)}: an own row is done and had no effect, or another spender took it back${where(candidates)}`,
  record_missing: (amount, candidates) =>
    amount < 0
      ? `a settlement of ${shown(amount)} is missing or shown with another amount${where(candidates)}`
      : `a refund of ${shown(amount)} is missing or shown with another amount${where(candidates)}`,
  record_changed: amount => `a known record changed its amount by ${shown(amount)}`,
  record_gone: amount => `a known record of ${shown(amount)} is no longer listed`,
  record_moved: amount => `a record of ${shown(amount)} stands on another card than it belongs to`,
  listed_late: amount =>
    `a record of ${shown(amount)} was listed after the checkpoint before it, which had its effect already and took it for a move by others`,
  duplicate: amount => `${shown(amount)} is recorded twice in the same second`,
  over_refund: amount => `${shown(amount)} more refunded than settled`,
  unrecorded_debit: amount =>
    `${shown(amount)} left the card and no record says why: a fee, or a hold that is not listed`,
  unrecorded_credit: amount => `${shown(amount)} came to the card and no record says why`,
  wallet_unexplained: amount =>
    `${shown(amount)} ${amount < 0 ? 'left' : 'came to'} the wallet, and neither cards nor deposits say why`,
  total_differs: amount => `two totals of the service differ by ${shown(amount)}`,
  beyond_purpose: amount => `${shown(amount)} more spent on the card than it was given for its purpose`,
  purpose_unspent: amount => `${shown(amount)} given for a purpose, and nothing was spent`,
};

const moreOrLess = (amount: number) => (amount < 0 ? 'more' : 'less');

type Next = (facts: Pick<Finding, 'candidates' | 'records' | 'rows'>) => string | undefined;

const readAgain: Next = () => 'cardwright books sync --full';
const nothing: Next = () => undefined;
const lookAt: Next = ({ candidates: [card = ''] }) => `cardwright cards get ${card}`;

const NEXT: Readonly<Record<FindingClass, Next>> = {
  fx: nothing,
  tip: nothing,
  over_settled: nothing,
  partial: nothing,
  force_post: nothing,
  late_refund: nothing,
  fee: nothing,
  hold_released: nothing,
  unknown_row_done: ({ rows: [row = ''] }) => {
    const [op = '', number = ''] = row.split('.');
    return `cardwright ops resolve ${op} ${number} --as done --note 'reconciled'`;
  },
  other_funded: lookAt,
  other_withdrew: lookAt,
  other_created: lookAt,
  other_terminated: lookAt,
  done_without_effect: ({ rows: [row = ''] }) => `cardwright ops show ${row.split('.')[0]}`,
  record_missing: readAgain,
  record_changed: readAgain,
  record_gone: readAgain,
  record_moved: readAgain,
  listed_late: nothing,
  duplicate: readAgain,
  over_refund: readAgain,
  unrecorded_debit: ({ candidates: [card = ''] }) => `cardwright cards freeze ${card}`,
  unrecorded_credit: readAgain,
  wallet_unexplained: () => 'cardwright audit list',
  total_differs: readAgain,
  beyond_purpose: lookAt,
  purpose_unspent: lookAt,
};
