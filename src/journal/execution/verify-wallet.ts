/**
 * The wallet at the end of a run: whether it changed by what the done rows moved
 * (docs/design/reliability.md, section 6, "Verification of a run").
 */
import { CliError } from '../../core/errors.ts';
import { cents, centsOf, dollars } from '../../core/money.ts';
import { rowsNamed } from '../../core/row-words.ts';
import { isResentOnCheck, type RowHistory } from '../wal/replay.ts';
import type { RunContext } from './run-context.ts';
import { commandToSee } from './see-row.ts';

/** Another operation of this journal, and what it did to the wallet; `untold` when the journal does not know all of it. */
export interface OtherOp {
  readonly op: string;
  readonly cents: number;
  /** What each of its unknown rows does where it was done. */
  readonly maybe: readonly number[];
  readonly untold: boolean;
}

export interface WalletFindings {
  readonly objections: readonly string[];
  readonly remarks: readonly string[];
}

export interface Moved {
  /** Amounts of the done rows, cents. */
  readonly moved: number;
  /** Amounts of the unknown rows, cents. */
  readonly maybe: number;
  /** No row is unknown or still to be sent. */
  readonly isSettled: boolean;
}

const NOTHING: WalletFindings = { objections: [], remarks: [] };

/**
 * A difference is a remark, for somebody else may use the wallet at the same time. It is an objection where the wallet moved
 * too much by the amount of a row that was sent again on nothing but a look, for it may have been done twice, or of one that was refused in a word that nobody knows, for it may have been done. Nothing when the wallet was not read
 * before, or cannot be read now.
 */
export async function walletFindings(
  context: RunContext,
  { moved, maybe, isSettled }: Moved,
  others: () => Promise<readonly OtherOp[]>,
): Promise<WalletFindings> {
  const { plan, reader, rowIndex } = context;
  const again = resentOnCheck(rowIndex);
  const refused = refusedInOddWords(rowIndex);
  if (!isSettled && again.length + refused.length === 0) return NOTHING;
  const before = plan.wallet ?? walletOfOne(context, again);
  if (before === undefined) return NOTHING;
  const back = movesBack(rowIndex);
  const wanted = before + (back ? moved : -moved);
  try {
    const now = centsOf((await reader.read('wallet.get', {})).balance);
    if (now === undefined || now === wanted) return NOTHING;
    const meanwhile = await others();
    const other = `${dollars(cents(Math.abs(now - wanted)))} ${now < wanted ? 'less' : 'more'}`;
    const text = `the wallet holds ${dollars(now)}, ${other} than ${dollars(cents(before))} before and the done rows explain`;
    const unexplained = wanted - now + meanwhile.reduce((all, each) => all + each.cents, 0);
    const beyond = (back ? -unexplained : unexplained) - maybe;
    const fitting = ({ item: { amount = 0 } }: RowHistory) => amount > 0 && amount <= beyond;
    const twice = again.filter(fitting);
    if (twice.length > 0) return { objections: [`${text}: ${maybeTwice(twice)}`], remarks: [] };
    const once = refused.filter(fitting);
    if (once.length > 0) return { objections: [`${text}: ${maybeDone(once)}`], remarks: [] };
    if (!isSettled) return NOTHING;
    const because = now === before ? UNMOVED : whoElse(meanwhile, now - wanted);
    return { objections: [], remarks: [`${text}: ${because}`] };
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind !== 'internal') return NOTHING;
    throw thrown;
  }
}

/** Done and unknown rows that nothing but a look made safe to send again. */
export function resentOnCheck(rowIndex: RunContext['rowIndex']): readonly RowHistory[] {
  return [...rowIndex.held()].filter(row => (row.state === 'done' || row.state === 'unknown') && isResentOnCheck(row));
}

function refusedInOddWords(rowIndex: RunContext['rowIndex']): readonly RowHistory[] {
  return [...rowIndex.held()].filter(({ state, failed }) => state === 'refused' && failed?.plausible === true);
}

/** Of a single operation the wallet is read just before it is sent. */
function walletOfOne({ plan }: RunContext, [only]: readonly RowHistory[]): number | undefined {
  return plan.bulk ? undefined : (only?.firstSent?.wallet ?? only?.firstSent?.before?.wallet);
}

function maybeTwice(rows: readonly RowHistory[]): string {
  const [first] = rows;
  const [was, it] = rows.length === 1 ? ['was', 'it'] : ['were', 'one of them'];
  const place = first && commandToSee(first);
  const named = rowsNamed(rows.map(({ item }) => item.row));
  return `${named} ${was} sent again because no reading showed ${rows.length === 1 ? 'it' : 'them'}, so that ${it} may have been done twice${place === undefined ? '' : `. ${place}`}`;
}

function maybeDone(rows: readonly RowHistory[]): string {
  const [first] = rows;
  const [was, it] = rows.length === 1 ? ['was', 'it'] : ['were', 'one of them'];
  const place = first && commandToSee(first);
  const named = rowsNamed(rows.map(({ item }) => item.row));
  return `${named} ${was} refused in a word that nobody knows, so that ${it} may have been done${place === undefined ? '' : `. ${place}`}`;
}

/** Nobody has used it: what was done is not charged yet, or the reading is behind. */
const UNMOVED = 'it has not moved at all. Its reading may be behind: cardwright wallet';

const MOST_NAMED = 3;

const UNSEEN = 'somebody else, or a row whose amount the journal does not know';

/** What of a difference is told of the others. All are cents, negative for money that left. */
interface Rest {
  readonly difference: number;
  /** What the others have moved, as far as the journal knows it. */
  readonly sum: number;
  readonly rest: number;
}

/** Who has used the wallet meanwhile: who shares this journal, or somebody else. */
function whoElse(others: readonly OtherOp[], difference: number): string {
  if (others.length === 0) return 'somebody else has used it meanwhile';
  const sum = others.reduce((all, each) => all + each.cents, 0);
  if (sum === difference) {
    return `that is what other commands of this journal have moved meanwhile: ${named(others.filter(each => each.cents !== 0))}`;
  }
  const left = { difference, sum, rest: difference - sum };
  const what = sum === 0 ? '' : ` (${dollars(cents(Math.abs(sum)))} ${wayOf(sum)} by its journal)`;
  const unknown = unknownElse(others, left);
  const have = others.some(each => each.cents !== 0 || each.untold) ? 'have' : 'may have';
  return `other commands of this journal ${have} used it meanwhile: ${named(others)}${what}; ${unknown ?? unseenElse(left)}`;
}

/** The others have moved less than the difference, nothing, or so much that as much went the other way. */
function unseenElse({ difference, sum, rest }: Rest): string {
  if (sum === 0) return `the difference was ${UNSEEN}`;
  if (isPartOf(difference, rest)) return `the rest was ${UNSEEN}`;
  const besides = `${dollars(cents(Math.abs(rest)))} ${rest < 0 ? 'went out' : 'came in'} besides, by ${UNSEEN}`;
  // They may have moved it behind the reading, too.
  return isPartOf(sum, -rest) ? `${besides}, or the reading is behind: cardwright wallet` : besides;
}

/** Unknown rows of others that may be what is not explained, or a part of it; undefined where there are none. */
function unknownElse(others: readonly OtherOp[], { difference, rest }: Rest): string | undefined {
  const fitting = ({ maybe }: OtherOp) => maybe.filter(each => isPartOf(rest, each));
  const ops = others.filter(each => fitting(each).length > 0);
  const [first] = ops;
  if (first === undefined) return undefined;
  const most = ops.flatMap(fitting).reduce((all, each) => all + Math.abs(each), 0);
  const amount = dollars(cents(Math.min(most, Math.abs(rest))));
  const of = isPartOf(difference, rest) ? 'of it may be' : `may have ${rest < 0 ? 'gone out' : 'come in'} besides, by`;
  const may = `${amount} ${of} unknown rows of ${named(ops)}, which may have been done: cardwright ops resume ${first.op}`;
  return most < Math.abs(rest) ? `${may}; the rest was ${UNSEEN}` : may;
}

/** Whether it goes the same way, and no further. */
function isPartOf(whole: number, part: number): boolean {
  return Math.sign(part) === Math.sign(whole) && Math.abs(part) <= Math.abs(whole);
}

function wayOf(moved: number): string {
  return moved < 0 ? 'out' : 'in';
}

function named(others: readonly OtherOp[]): string {
  const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : '';
  return `${others
    .slice(0, MOST_NAMED)
    .map(({ op }) => op)
    .join(', ')}${more}`;
}

/** Whether the rows give money back to the wallet. All rows of a run that move money move it one way; others move none. */
function movesBack(rowIndex: RunContext['rowIndex']): boolean {
  for (const row of rowIndex.all()) {
    const { item } = row.history();
    if (item.amount !== undefined) return item.operation === 'cards.withdraw';
  }
  return false;
}
