/**
 * The end of a run: what the journal says is compared with what the service has. Cards with the markers of its rows are counted,
 * of refused creates too, and the wallet is compared. What it finds is an objection (15), a remark, or another outcome of a row.
 */
import { READ_LAG_PAUSES } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import { cents, dollars } from '../core/money.ts';
import { rowsNamed } from '../core/row-words.ts';
import { settle } from './changes.ts';
import { othersMoved, walletNow } from './look.ts';
import { MARKER_KEY } from './names.ts';
import { type Change, isRefused } from './records.ts';
import type { RowOutcome } from './types.ts';
import { duplicateNotes, recordedOutcome } from './words.ts';
import { rest, type Work } from './work.ts';

export interface Verified {
  readonly objections: readonly string[];
  readonly remarks: readonly string[];
  /** Rows whose outcome is another one now. */
  readonly corrected: readonly RowOutcome[];
}

/** Throws as reading does when the service cannot be asked, and as `settle` does. */
export async function verify(work: Work, changes: readonly Change[], wallet: number | undefined): Promise<Verified> {
  const creates = changes.filter(
    change => change.operation === 'cards.create' && (change.state === 'done' || (!work.alone && isRefused(change))),
  );
  const recorded = creates.flatMap(({ n, evidence: { duplicate } }) => (duplicate ? duplicateNotes(n, duplicate) : []));
  const listed =
    creates.length === 0
      ? NOTHING
      : work.alone
        ? await verifyOne(work, creates[0])
        : await compareCards(
            work,
            creates.filter(({ evidence }) => evidence.unmarked !== true),
          );
  const changed = new Set(listed.missing);
  for (const { change, card } of listed.found) {
    if (isRefused(change)) changed.add(change);
    await settle(work, change, { state: 'done', card, evidence: { ...change.evidence, via: 'look' } });
  }
  for (const change of listed.missing) {
    const reason = `the answer named card ${change.card}, and no reading shows it`;
    await settle(work, change, { state: 'unknown', evidence: { ...change.evidence, reason } });
  }
  const corrected = [...changed].map(change => recordedOutcome(change, work.op)).filter(each => each !== undefined);
  const money = await compareWallet(work, changes, wallet);
  const objections = [...new Set([...recorded, ...listed.objections, ...money.objections])];
  return { objections, remarks: money.remarks, corrected };
}

interface Compared {
  readonly objections: readonly string[];
  /** Creates that were refused, or answered with another card, and the one that carries their marker. */
  readonly found: readonly { readonly change: Change; readonly card: string }[];
  /** Creates that were answered with a card that no reading shows. */
  readonly missing: readonly Change[];
}

const NOTHING: Compared = { objections: [], found: [], missing: [] };

/** A single create was read by its id. Where the wallet has not moved by its amount, a second card may be there. */
async function verifyOne(work: Work, change: Change | undefined): Promise<Compared> {
  if (change === undefined || change.marker === undefined || change.before?.wallet === undefined) return NOTHING;
  if (change.evidence.duplicate !== undefined || change.evidence.via === 'person') return NOTHING;
  for (const pause of [...READ_LAG_PAUSES, undefined]) {
    const wallet = await walletNow(work.reader).catch(() => undefined);
    // The card itself was read before.
    if (wallet === undefined) return NOTHING;
    const moved = change.before.wallet - wallet;
    if (moved === change.amount || (await othersMoved(work, change.before.at))) return NOTHING;
    const { cards } = await work.marked(change.marker, String(change.input['bin_id']));
    const ids = cards.map(card => String(card['id']));
    if (ids.length > 1) return { ...NOTHING, objections: duplicateNotes(change.n, ownFirst(change, ids)) };
    if (pause === undefined || !(await rest(work, pause))) break;
  }
  return NOTHING;
}

/** The card that is recorded stays; the commands that end a duplicate name the others. */
function ownFirst({ card }: Change, ids: readonly string[]): readonly string[] {
  return [...ids].sort((one, other) => Number(other === card) - Number(one === card));
}

/** The lists of the BINs that cards were made from, read once. */
async function compareCards(work: Work, creates: readonly Change[]): Promise<Compared> {
  const byId = new Map<string, Change>();
  const byMarker = new Map<string, Change>();
  const objections: string[] = [];
  for (const change of creates) {
    const { card, marker, n } = change;
    if (marker !== undefined) byMarker.set(marker, change);
    if (card === undefined) continue;
    const first = byId.get(card);
    if (first === undefined) byId.set(card, change);
    else
      objections.push(
        `rows ${first.n} and ${n}: both were answered with card ${card}, so one of them has another card`,
      );
  }
  const missing = new Map(byId);
  const unmarked = new Map<string, Change>();
  let isDenied = false;
  const marked = new Map<Change, string[]>();
  for (const binId of new Set(creates.map(({ input }) => String(input['bin_id'])))) {
    for await (const { data } of work.reader.pages('cards.list', { bin_id: binId, per_page: 100 })) {
      for (const card of data) {
        missing.delete(card.id);
        const own = byMarker.get(card.metadata?.[MARKER_KEY] ?? '');
        if (own !== undefined) marked.set(own, [...(marked.get(own) ?? []), card.id]);
        const answered = byId.get(card.id);
        if (answered?.marker === undefined || card.metadata?.[MARKER_KEY] === answered.marker) continue;
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
  objections.push(...(await otherCards(work, unmarked, isDenied)));
  for (const { change } of found) missing.delete(change.card ?? '');
  return { objections, found, missing: await notThere(work, missing) };
}

/** Of a service whose lists hold no metadata every card looks unmarked: so many are read to tell. */
const MOST_READ = 20;

/**
 * An answer may hold our marker beside the id of a card that was there before: the card itself does not carry it. Where one is found
 * among the first, or the list shows metadata without the marker, none is believed before it was read.
 */
async function otherCards(work: Work, unmarked: ReadonlyMap<string, Change>, isDenied: boolean): Promise<string[]> {
  const others: string[] = [];
  let read = 0;
  for (const [id, { n, marker = '' }] of unmarked) {
    if (read === MOST_READ && !isDenied && others.length === 0) break;
    read += 1;
    if (await carriesMarker(work, id, marker)) continue;
    others.push(`row ${n}: card ${id} does not carry the marker of this run, so it is not the card that was asked for`);
  }
  return others;
}

async function carriesMarker({ reader }: Work, id: string, marker: string): Promise<boolean> {
  try {
    const card = await reader.read('cards.get', { card_id: id });
    return card.metadata === undefined || card.metadata === null || card.metadata[MARKER_KEY] === marker;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
    return false;
  }
}

/** A list may be behind; a card that is not in it is asked for by its id, and again a little later. */
async function notThere(work: Work, missing: ReadonlyMap<string, Change>): Promise<readonly Change[]> {
  let left = [...missing];
  for (const pause of [...READ_LAG_PAUSES, undefined]) {
    const gone: typeof left = [];
    for (const entry of left) if (!(await isThere(work, entry[0]))) gone.push(entry);
    left = gone;
    if (left.length === 0 || pause === undefined || !(await rest(work, pause))) break;
  }
  return left.map(([, change]) => change);
}

async function isThere({ reader }: Work, id: string): Promise<boolean> {
  try {
    await reader.read('cards.get', { card_id: id });
    return true;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
    return false;
  }
}

/** The wallet of a run of many: what it lost more than the done rows explain may be a row that was done twice. */
async function compareWallet(work: Work, changes: readonly Change[], before: number | undefined) {
  const none = { objections: [] as string[], remarks: [] as string[] };
  const isSettled = changes.every(({ state }) => state === 'done' || state === 'refused' || state === 'not_sent');
  const isTold = changes.every(({ operation }) => operation !== 'cards.terminate' && operation !== 'api.write');
  if (before === undefined || work.resumed || !isSettled || !isTold) return none;
  const sign = (change: Change) => (change.operation === 'cards.withdraw' ? 1 : -1);
  const done = changes.filter(({ state }) => state === 'done');
  const wanted = before + done.reduce((sum, change) => sum + sign(change) * change.amount, 0);
  let now: number;
  try {
    now = await walletNow(work.reader);
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind !== 'internal') return none;
    throw thrown;
  }
  if (now === wanted) return none;
  const difference = `${dollars(cents(Math.abs(now - wanted)))} ${now < wanted ? 'less' : 'more'}`;
  const text = `the wallet holds ${dollars(cents(now))}, ${difference} than ${dollars(cents(before))} before and the done rows explain`;
  if (await othersMoved(work, work.op.created)) {
    return { ...none, remarks: [`${text}; other commands of this journal have used it meanwhile`] };
  }
  const isLess = (wanted - now) * (changes.some(({ operation }) => operation === 'cards.withdraw') ? -1 : 1) > 0;
  const fits = ({ amount }: Change) => isLess && amount > 0 && amount <= Math.abs(now - wanted);
  const again = done.filter(change => (change.evidence.resent ?? 0) > 0 && fits(change));
  const odd = changes.filter(
    change => change.state === 'refused' && change.evidence.plausible === true && fits(change),
  );
  if (again.length === 0 && odd.length > 0) {
    const rows = rowsNamed(odd.map(({ n }) => n));
    return {
      ...none,
      objections: [
        `${text}: ${rows} was refused in a word that nobody knows, and may have been done: cardwright tx list`,
      ],
    };
  }
  if (again.length === 0) {
    return {
      ...none,
      remarks: [`${text}; somebody else has used it meanwhile, or its reading is behind: cardwright wallet`],
    };
  }
  const rows = rowsNamed(again.map(({ n }) => n));
  return { ...none, objections: [`${text}: ${rows} was sent again and may have been done twice: cardwright tx list`] };
}
