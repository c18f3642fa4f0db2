/** A finding of a reconciliation: its class, its exact amount, the cards it may be about, and what to do next. */
import { cents, dollars } from '../core/money.ts';

/** What a class of findings says, whether it is wrong, and what to do next. */
interface ClassRow {
  /** Wrong whatever else is found: exit 15. */
  readonly isWrong?: true;
  /** About what another spender moved, made or ended: wrong where nobody else may. */
  readonly isOfOthers?: true;
  /** A clause of the amount, without its sign; `among` is where several cards explain it equally well. */
  readonly says: (shown: string, facts: { readonly amount: number; readonly among: number }) => string;
  /** A command that works when it is copied; undefined where nothing is to be done. */
  readonly next?: (facts: Pick<Finding, 'candidates' | 'rows'>) => string;
}

const readAgain = () => 'cardwright books sync --full';
const lookAt: ClassRow['next'] = ({ candidates: [card = ''] }) => `cardwright cards get ${card}`;
const onOneOf = (among: number) => (among > 1 ? `, on one of ${among} cards` : '');
const onSomeOf = (among: number) => (among > 1 ? `, on one or more of ${among} cards` : '');

const CLASSES = {
  // Unusual, and explained by the records of the purchase themselves.
  fx: {
    says: (usd, { amount }) => `settled ${usd} ${amount < 0 ? 'more' : 'less'} than authorized, in another country`,
  },
  tip: { says: usd => `settled ${usd} more than authorized: a tip` },
  over_settled: { says: usd => `settled ${usd} more than authorized` },
  partial: { says: usd => `settled ${usd} less than authorized; the rest was released` },
  force_post: { says: usd => `settled ${usd} without an open authorization` },
  late_refund: { says: usd => `refunded ${usd}` },
  fee: { says: usd => `a record of an unknown type explains ${usd}` },
  hold_released: {
    says: (usd, { amount, among }) =>
      amount < 0
        ? `${usd} less was held when the books began than shown, or a purchase does not show what it authorized${onOneOf(among)}`
        : `${usd} of open holds seem released${onOneOf(among)}`,
  },
  unknown_row_done: {
    says: usd => `${usd}: an own row of unknown outcome is done`,
    next({ rows: [row = ''] }) {
      const [op = '', number = ''] = row.split('.');
      return `cardwright ops resolve ${op} ${number} --as done --note 'reconciled'`;
    },
  },
  other_funded: {
    isOfOthers: true,
    says: (usd, { among }) => `funded ${usd} by another spender${onSomeOf(among)}`,
    next: lookAt,
  },
  other_withdrew: {
    isOfOthers: true,
    says: (usd, { among }) => `${usd} withdrawn by another spender${onSomeOf(among)}`,
    next: lookAt,
  },
  other_created: { isOfOthers: true, says: usd => `created with ${usd} by another spender`, next: lookAt },
  other_terminated: {
    isOfOthers: true,
    says: usd => `terminated by another spender; ${usd} went back to the wallet`,
    next: lookAt,
  },
  done_without_effect: {
    isWrong: true,
    says: (usd, { among }) =>
      `${usd}: an own row is done and had no effect, or another spender took it back${onOneOf(among)}`,
    next: ({ rows: [row = ''] }) => `cardwright ops show ${row.split('.')[0]}`,
  },
  record_missing: {
    isWrong: true,
    says: (usd, { amount, among }) =>
      `a ${amount < 0 ? 'settlement' : 'refund'} of ${usd} is missing or shown with another amount${onOneOf(among)}`,
    next: readAgain,
  },
  record_changed: { isWrong: true, says: usd => `a known record changed its amount by ${usd}`, next: readAgain },
  record_gone: {
    isWrong: true,
    says: usd => `a known record of ${usd} is no longer listed; if it stays away, cardwright books reset begins anew`,
    next: readAgain,
  },
  record_moved: {
    isWrong: true,
    says: usd => `a record of ${usd} stands on another card than it belongs to`,
    next: readAgain,
  },
  listed_late: {
    says: usd =>
      `a record of ${usd} was listed after the checkpoint before it, which had its effect already and took it for a move by others`,
  },
  duplicate: { says: usd => `${usd} is recorded twice in the same second`, next: readAgain },
  over_refund: { isWrong: true, says: usd => `${usd} more refunded than settled`, next: readAgain },
  unrecorded_debit: {
    isWrong: true,
    says: usd => `${usd} left the card and no record says why: a fee, or a hold that is not listed`,
    next: ({ candidates: [card = ''] }) => `cardwright cards freeze ${card}`,
  },
  unrecorded_credit: {
    isWrong: true,
    says: usd => `${usd} came to the card and no record says why`,
    next: readAgain,
  },
  wallet_unexplained: {
    isWrong: true,
    says: (usd, { amount }) =>
      `${usd} ${amount < 0 ? 'left' : 'came to'} the wallet, and neither cards nor deposits say why`,
    next: () => 'cardwright audit list',
  },
  total_differs: { isWrong: true, says: usd => `two totals of the service differ by ${usd}`, next: readAgain },
  beyond_purpose: { says: usd => `${usd} more spent on the card than it was given for its purpose`, next: lookAt },
  purpose_unspent: { says: usd => `${usd} given for a purpose, and nothing was spent`, next: lookAt },
} as const satisfies Readonly<Record<string, ClassRow>>;

export type FindingClass = keyof typeof CLASSES;

export const FINDING_CLASSES = Object.keys(CLASSES) as [FindingClass, ...FindingClass[]];

const rowOf = (name: FindingClass): ClassRow => CLASSES[name];

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
  /** Signed effect on the card, or on the wallet, integer cents; of `record_changed` the new effect less the old one. */
  readonly cents: number;
  /** Ids of the records that show it. */
  readonly records: readonly string[];
  /** Own rows, `<op>.<row>`. */
  readonly rows: readonly string[];
  /** More about it, a clause. */
  readonly note: string | undefined;
}

/** A finding with all its parts. `soleOperator`: nobody else may move money, so `other_…` is wrong. */
export function finding(
  facts: Pick<Finding, 'class' | 'candidates' | 'cents'> &
    Partial<Pick<Finding, 'records' | 'rows' | 'isWrong' | 'note'>>,
  { soleOperator = false }: { readonly soleOperator?: boolean | undefined } = {},
): Finding {
  const { class: name, candidates, cents, records = [], rows = [], note } = facts;
  const { isWrong = false, isOfOthers: isOther = false } = rowOf(name);
  const isProvisional = name === 'hold_released';
  const verdict = { isWrong: facts.isWrong ?? (isWrong || (isOther && soleOperator)), isProvisional, isAbout: false };
  return { class: name, ...verdict, candidates, cents, records, rows, note };
}

/** About what another spender moved, made or ended. */
export function isOfOthers({ class: name }: Pick<Finding, 'class'>): boolean {
  return rowOf(name).isOfOthers === true;
}

/** One sentence without a full stop. */
export function sentence({ class: name, cents: amount, candidates, note, isAbout }: Finding): string {
  const said = rowOf(name).says(dollars(cents(Math.abs(amount))), { amount, among: candidates.length });
  return [said, ...(isAbout ? ['about: holds blur how much'] : []), ...(note === undefined ? [] : [note])].join('; ');
}

/** What to do next: a command that works when it is copied, if anything is to be done. */
export function nextCommand(found: Finding): string | undefined {
  return rowOf(found.class).next?.(found);
}
