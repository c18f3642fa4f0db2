/**
 * The end of a run: what the journal says is compared with what the service has. Cards with the markers of its rows are counted,
 * of refused creates too, and the wallet is compared. What it finds is an objection (15), a remark, or another outcome of a row.
 */
import { READ_LAG, READ_LAG_PAUSES } from '../contract/spans.ts';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { cents, dollars } from '../core/money.ts';
import { rowsNamed } from '../core/row-words.ts';
import { rest } from '../platform/time.ts';
import { settle } from './changes.ts';
import { failedReading, othersMovedWallet, walletNow } from './look.ts';
import { MARKER_KEY } from './names.ts';
import { type Change, isRefused } from './records.ts';
import type { CorrectedOutcome } from './types.ts';
import { duplicateNotes, recordedOutcome } from './words.ts';
import { timeOf, type Work } from './work.ts';

export interface Verified {
  readonly objections: readonly string[];
  readonly remarks: readonly string[];
  /** Rows whose outcome is another one now. */
  readonly corrected: readonly CorrectedOutcome[];
  /** False where the service could not be read: a resume ends the run. */
  readonly isWhole: boolean;
}

/** Throws as `settle` does. */
export async function verify(work: Work, changes: readonly Change[], wallet: number | undefined): Promise<Verified> {
  // A refusal of a single change was looked for at once.
  const isToSettle = (change: Change) => !work.alone && isRefused(change);
  const creates = changes.filter(
    change => change.operation === 'cards.create' && (change.state === 'done' || isToSettle(change)),
  );
  const recorded = creates.flatMap(({ n, evidence: { duplicate } }) => (duplicate ? duplicateNotes(n, duplicate) : []));
  const remarks: string[] = [];
  const unread = (thrown: unknown): Compared => {
    remarks.push(`it could not be verified: ${failedReading(thrown).message}`);
    return { ...NOTHING, unclear: creates.filter(isRefused) };
  };
  // What a person has decided is not compared.
  const marked = creates.filter(({ evidence }) => evidence.unmarked !== true && evidence.via !== 'person');
  const comparing = async () =>
    work.alone ? verifyOne(work, creates[0]) : compareCards(work, marked, await isCurrent(work, creates));
  const listed = creates.length === 0 ? NOTHING : await comparing().catch(unread);
  const changed = new Map<Change, CorrectedOutcome['was']>(listed.missing.map(({ change }) => [change, 'done']));
  for (const { change, card } of listed.found) {
    if (isRefused(change)) changed.set(change, 'refused');
    await settle(work, change, { state: 'done', card, evidence: { ...change.evidence, via: 'look' } });
  }
  for (const { change, reason } of listed.missing) {
    await settle(work, change, { state: 'unknown', evidence: { ...change.evidence, reason } });
  }
  const isWhole = remarks.length === 0;
  const money: Compared = isWhole ? await compareWallet(work, changes, wallet, remarks) : NOTHING;
  for (const change of new Set([...listed.unclear, ...money.unclear])) {
    changed.set(change, 'refused');
    const why = listed.unclear.includes(change)
      ? 'the list of cards is not whole, or may be behind'
      : 'the wallet does not speak against it';
    const evidence = { ...change.evidence, reason: `it was refused, but ${why}` };
    await settle(work, change, { state: 'unknown', evidence });
  }
  const corrected = [...changed].flatMap(([change, was]): CorrectedOutcome[] => {
    const outcome = recordedOutcome(change, work.op);
    return outcome === undefined ? [] : [{ ...outcome, was }];
  });
  const objections = [...new Set([...recorded, ...listed.objections, ...money.objections])];
  return { objections, remarks, corrected, isWhole };
}

interface Compared {
  readonly objections: readonly string[];
  /** Creates that were refused, or answered with another card, and the one that carries their marker. */
  readonly found: readonly { readonly change: Change; readonly card: string }[];
  /** Creates that were answered with a card that no reading shows, or that is not theirs. */
  readonly missing: readonly { readonly change: Change; readonly reason: string }[];
  /** Refused rows that may have been done. */
  readonly unclear: readonly Change[];
}

const NOTHING: Compared = { objections: [], found: [], missing: [], unclear: [] };

/** Waits until a list shows what was done behind the last refusal; false where there was no time. */
async function isCurrent(work: Work, creates: readonly Change[]): Promise<boolean> {
  const refused = creates.filter(isRefused);
  if (refused.length === 0 || work.exact) return true;
  const last = Math.max(...refused.map(({ decidedAt = 0 }) => decidedAt));
  const left = last + READ_LAG - (await timeOf(work));
  return left <= 0 || rest(Math.min(left, READ_LAG), work.clock, work.stop);
}

/** A single create was read by its id. Where the wallet has not moved by its amount, a second card may be there. */
async function verifyOne(work: Work, change: Change | undefined): Promise<Compared> {
  if (change === undefined || change.marker === undefined || change.before?.wallet === undefined) return NOTHING;
  if (change.evidence.duplicate !== undefined || change.evidence.via === 'person') return NOTHING;
  for (const pause of [...READ_LAG_PAUSES, undefined]) {
    const wallet = await walletNow(work.reader).catch(() => undefined);
    // The card itself was read before.
    if (wallet === undefined) return NOTHING;
    const moved = change.before.wallet - wallet;
    if (moved === change.amount || (await othersMovedWallet(work, change.before.at))) return NOTHING;
    const { cards } = await work.marked(change.marker, String(change.input['bin_id']));
    const ids = cards.map(card => String(card['id']));
    if (ids.length > 1) return { ...NOTHING, objections: duplicateNotes(change.n, ownFirst(change, ids)) };
    if (pause === undefined || !(await rest(pause, work.clock, work.stop))) break;
  }
  return NOTHING;
}

/** The card that is recorded stays; the commands that end a duplicate name the others. */
function ownFirst({ card }: Change, ids: readonly string[]): readonly string[] {
  return [...ids].sort((one, other) => Number(other === card) - Number(one === card));
}

/** The lists of the BINs that cards were made from, read once. `isWhole`: nothing that was done is too young for them. */
async function compareCards(work: Work, creates: readonly Change[], isCurrent: boolean): Promise<Compared> {
  const byId = new Map<string, Change>();
  const byMarker = new Map<string, Change>();
  /** Answered with a card that another row was answered with, too. */
  const shared = new Set<Change>();
  const objections: string[] = [];
  for (const change of creates) {
    const { card, marker } = change;
    if (marker !== undefined) byMarker.set(marker, change);
    if (card === undefined) continue;
    const first = byId.get(card);
    if (first === undefined) byId.set(card, change);
    else shared.add(first).add(change);
  }
  const missing = new Map(byId);
  const unmarked = new Map<string, Change>();
  const older: Compared['missing'][number][] = [];
  let [isDenied, isWhole] = [false, isCurrent];
  const onIncomplete = () => {
    isWhole = false;
  };
  const marked = new Map<Change, string[]>();
  for (const binId of new Set(creates.map(({ input }) => String(input['bin_id'])))) {
    const listed = { bin_id: binId, per_page: 100 };
    for await (const { data } of work.reader.pages('cards.list', listed, { onIncomplete })) {
      for (const card of data) {
        missing.delete(card.id);
        const own = byMarker.get(card.metadata?.[MARKER_KEY] ?? '');
        if (own !== undefined) marked.set(own, [...(marked.get(own) ?? []), card.id]);
        const answered = byId.get(card.id);
        // A card made a day before the op cannot be its own, however far the clocks are apart.
        const isOld = Date.parse(card.created_at ?? '') < work.op.created - DAY;
        if (answered && isOld) older.push({ change: answered, reason: `card ${card.id} is older than this operation` });
        if (isOld || answered?.marker === undefined || card.metadata?.[MARKER_KEY] === answered.marker) continue;
        unmarked.set(card.id, answered);
        isDenied ||= card.metadata !== undefined && card.metadata !== null;
      }
    }
  }
  const found: { change: Change; card: string }[] = [];
  for (const [change, ids] of marked) {
    const { n, card } = change;
    if (card !== undefined && !ids.includes(card)) {
      // The answered card may only be listed without its metadata.
      if (await carriesMarker(work, card, change.marker ?? '')) {
        objections.push(...duplicateNotes(n, [card, ...ids]));
        continue;
      }
      objections.push(
        `row ${n}: the answer named the card ${card}, which is another one; the card of row ${n} is ${ids.join(', ')}, which carries its marker`,
      );
    } else {
      if (ids.length > 1) objections.push(...duplicateNotes(n, ownFirst(change, ids)));
      if (!isRefused(change)) continue;
      objections.push(`row ${n} was refused, and made all the same: ${ids.join(', ')} carries its marker`);
    }
    const [only = ''] = ids;
    if (ids.length === 1 || isRefused(change)) found.push({ change, card: only });
  }
  for (const [id, change] of unmarked) if (marked.has(change)) unmarked.delete(id);
  const old = older.filter(({ change }) => !marked.has(change));
  const others = await otherCards(work, unmarked, isDenied);
  for (const { change } of [...old, ...others]) shared.delete(change);
  for (const { change } of found) missing.delete(change.card ?? '');
  const unclear = creates.filter(change => !isWhole && isRefused(change) && !marked.has(change));
  const absent = (await notThere(work, missing)).map(change => ({
    change,
    reason: `the answer named card ${change.card}, and no reading shows it`,
  }));
  return {
    objections,
    found,
    missing: [...absent, ...old, ...others, ...(await ofAnother(work, shared, marked))],
    unclear,
  };
}

/** Of a service whose lists hold no metadata every card looks unmarked: so many are read to tell. */
const MOST_READ = 20;

/**
 * An answer may hold our marker beside the id of a card that was there before: the card itself does not carry it. Where one is found
 * among the first, or the list shows metadata without the marker, none is believed before it was read.
 */
async function otherCards(
  work: Work,
  unmarked: ReadonlyMap<string, Change>,
  isDenied: boolean,
): Promise<Compared['missing']> {
  const others: Compared['missing'][number][] = [];
  let read = 0;
  for (const [id, change] of unmarked) {
    if (read === MOST_READ && !isDenied && others.length === 0) break;
    read += 1;
    if (await carriesMarker(work, id, change.marker ?? '')) continue;
    others.push({ change, reason: `card ${id} does not carry the marker of this run, so it is not the one asked for` });
  }
  return others;
}

async function carriesMarker(work: Work, id: string, marker: string): Promise<boolean> {
  const card = await cardNow(work, id);
  if (card === undefined) return false;
  return card.metadata === undefined || card.metadata === null || card.metadata[MARKER_KEY] === marker;
}

/** Of rows with one card it is the card of the row whose marker it carries. */
async function ofAnother(
  work: Work,
  shared: ReadonlySet<Change>,
  marked: ReadonlyMap<Change, unknown>,
): Promise<Compared['missing']> {
  const missing: Compared['missing'][number][] = [];
  for (const change of shared) {
    const { card = '', marker } = change;
    if (marked.has(change) || (marker && (await cardNow(work, card))?.metadata?.[MARKER_KEY] === marker)) continue;
    missing.push({ change, reason: `the answer named card ${card}, and so did that of another row` });
  }
  return missing;
}

/** A list may be behind; a card that is not in it is asked for by its id, and again a little later. */
async function notThere(work: Work, missing: ReadonlyMap<string, Change>): Promise<readonly Change[]> {
  let left = [...missing];
  for (const pause of [...READ_LAG_PAUSES, undefined]) {
    const gone: typeof left = [];
    for (const entry of left) if ((await cardNow(work, entry[0])) === undefined) gone.push(entry);
    left = gone;
    if (left.length === 0 || pause === undefined || !(await rest(pause, work.clock, work.stop))) break;
  }
  return left.map(([, change]) => change);
}

/** Undefined where there is none. */
async function cardNow({ reader }: Work, id: string) {
  try {
    return await reader.read('cards.get', { card_id: id });
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
    return undefined;
  }
}

/** The wallet of a run of many: what it lost more than the done rows explain may be a row that was done twice, or was refused. */
async function compareWallet(
  work: Work,
  changes: readonly Change[],
  before: number | undefined,
  remarks: string[],
): Promise<Compared> {
  const isSettled = changes.every(({ state }) => state !== 'sent' && state !== 'unknown');
  const isTold = changes.every(({ operation }) => operation !== 'cards.terminate' && operation !== 'api.write');
  if (before === undefined || work.resumed || !isSettled || !isTold) return NOTHING;
  // One of them, or all, may have been done.
  const odd = changes.filter(change => isRefused(change) && change.operation !== 'cards.withdraw' && change.amount > 0);
  const sign = (change: Change) => (change.operation === 'cards.withdraw' ? 1 : -1);
  const done = changes.filter(({ state }) => state === 'done');
  const wanted = before + done.reduce((sum, change) => sum + sign(change) * change.amount, 0);
  let now: number;
  try {
    now = await walletNow(work.reader);
  } catch (thrown) {
    failedReading(thrown);
    return { ...NOTHING, unclear: odd };
  }
  if (now === wanted) return NOTHING;
  const difference = `${dollars(cents(Math.abs(now - wanted)))} ${now < wanted ? 'less' : 'more'}`;
  const text = `the wallet holds ${dollars(cents(now))}, ${difference} than ${dollars(cents(before))} before and the done rows explain`;
  if (await othersMovedWallet(work, work.op.created)) {
    remarks.push(`${text}; other commands of this journal have used it meanwhile`);
    return NOTHING;
  }
  const isLess = (wanted - now) * (changes.some(({ operation }) => operation === 'cards.withdraw') ? -1 : 1) > 0;
  const fits = ({ amount }: Change) => isLess && amount > 0 && amount <= Math.abs(now - wanted);
  const again = done.filter(change => (change.evidence.resent ?? 0) > 0 && fits(change));
  const all = odd.reduce((sum, { amount }) => sum + amount, 0);
  const unclear = odd.filter(({ amount }) => isLess && (amount === wanted - now || all === wanted - now));
  if (unclear.length > 0) return { ...NOTHING, unclear };
  if (again.length === 0) {
    remarks.push(`${text}; somebody else has used it meanwhile, or its reading is behind: cardwright wallet`);
    return NOTHING;
  }
  const rows = rowsNamed(again.map(({ n }) => n));
  return {
    ...NOTHING,
    objections: [`${text}: ${rows} was sent again and may have been done twice: cardwright tx list`],
  };
}
