/**
 * The end of a run: what the journal says is compared with what the service has. Cards with the markers of its rows are counted,
 * of refused creates too, and the wallet is compared. What it finds is an objection (15), a remark, or another outcome of a row.
 */
import { READ_LAG, READ_LAG_PAUSES } from '../contract/spans.ts';
import { DAY } from '../core/durations.ts';
import { undefinedOn } from '../core/errors.ts';
import { cents, dollars } from '../core/money.ts';
import { rowsNamed } from '../core/row-words.ts';
import { rest } from '../platform/time.ts';
import { settle } from './changes.ts';
import { failedReading, othersMovedWallet, walletNow } from './look.ts';
import { MARKER_KEY } from './names.ts';
import { type Change, isRefused, isUncompared } from './records.ts';
import type { CorrectedOutcome, Finished } from './types.ts';
import { duplicateNotes, recordedOutcome } from './words.ts';
import { timeOf, type Work } from './work.ts';

export type Verified = Omit<Finished, 'ended'>;

/** Throws as `settle` does. */
export async function verify(work: Work, changes: readonly Change[], wallet: number | undefined): Promise<Verified> {
  // A refusal of a single change was looked for at once.
  const isToSettle = (change: Change) => !work.alone && isRefused(change);
  const creates = changes.filter(
    change => change.operation === 'cards.create' && (change.state === 'done' || isToSettle(change)),
  );
  const recorded = creates.flatMap(({ n, evidence: { duplicate } }) => (duplicate ? duplicateNotes(n, duplicate) : []));
  const remarks: string[] = [];
  // What a person has decided is not compared.
  const marked = creates.filter(({ evidence }) => evidence.unmarked !== true && evidence.via !== 'person');
  const unread = (thrown: unknown): Compared => {
    remarks.push(`it could not be verified: ${failedReading(thrown).message}`);
    const answered = marked.filter(({ state }) => state === 'done' && !work.alone);
    // A resume reads the card of the answer first.
    for (const change of answered) change.evidence = { ...change.evidence, made: change.card };
    const missing = answered.map(change => ({ change, reason: 'it was answered, and no reading has shown its card' }));
    return { ...NOTHING, missing, unclear: creates.filter(isRefused) };
  };
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
    // A resume compares it.
    if (isUncompared(change) && !money.unclear.includes(change)) continue;
    const why = listed.unclear.includes(change)
      ? 'the list of cards is not whole, or may be behind'
      : 'the wallet does not speak against it';
    const evidence = { ...change.evidence, reason: `it was refused, but ${why}` };
    await settle(work, change, { state: 'unknown', evidence });
  }
  // Nothing speaks against the other refusals.
  const believed = changes.filter(change => isUncompared(change) && !listed.unclear.includes(change));
  const asRefused = ({ evidence, error }: Change) => ({ state: 'refused', evidence, error }) as const;
  await Promise.all(believed.map(change => settle(work, change, asRefused(change))));
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

/** Of a service whose lists hold no metadata every card looks unmarked: so many are read to tell. */
const MOST_READ = 20;

/** What the lists show of a create. */
interface Listed {
  /** Cards with its marker. */
  readonly marked: string[];
  /** The card of its answer is there; `isOld`: made a day before the op, so not its own, however far the clocks are apart. */
  isThere: boolean;
  isOld: boolean;
}

/** Creates beside the lists of their BINs, which are read once. `isCurrent`: nothing that was done is too young for them. */
async function compareCards(work: Work, creates: readonly Change[], isCurrent: boolean): Promise<Compared> {
  const byMarker = new Map<string, Change>();
  const byCard = new Map<string, Change[]>();
  const lists = new Map<Change, Listed>();
  for (const change of creates) {
    const { card, marker } = change;
    lists.set(change, { marked: [], isThere: false, isOld: false });
    if (marker !== undefined) byMarker.set(marker, change);
    if (card !== undefined) byCard.set(card, [...(byCard.get(card) ?? []), change]);
  }
  let [isWhole, showsMetadata] = [isCurrent, false];
  const onIncomplete = () => {
    isWhole = false;
  };
  for (const binId of new Set(creates.map(({ input }) => String(input['bin_id'])))) {
    const listed = { bin_id: binId, per_page: 100 };
    for await (const { data } of work.reader.pages('cards.list', listed, { onIncomplete })) {
      for (const { id, metadata, created_at: madeAt } of data) {
        const own = byMarker.get(metadata?.[MARKER_KEY] ?? '');
        if (own !== undefined) lists.get(own)?.marked.push(id);
        for (const change of byCard.get(id) ?? []) {
          const isOld = Date.parse(madeAt ?? '') < work.op.created - DAY;
          Object.assign(lists.get(change) ?? {}, { isThere: true, isOld });
          showsMetadata ||= own !== change && !isOld && metadata !== undefined && metadata !== null;
        }
      }
    }
  }
  const isUnlisted = ([{ card }, { marked, isThere }]: [Change, Listed]) =>
    card !== undefined && marked.length === 0 && !isThere;
  const gone = await notThere(
    work,
    [...lists].filter(isUnlisted).map(([change]) => change),
  );
  const objections: string[] = [];
  const found: Compared['found'][number][] = [];
  const missing: Compared['missing'][number][] = [];
  const unclear: Change[] = [];
  let read = 0;
  for (const [change, { marked, isOld }] of lists) {
    const { n, card = '', marker = '' } = change;
    const [first] = marked;
    if (first === undefined) {
      if (isRefused(change)) {
        if (!isWhole) unclear.push(change);
        continue;
      }
      const isShared = (byCard.get(card)?.length ?? 0) > 1;
      // Where one is found to be another card, or the list shows metadata without the marker, none is believed unread.
      const isRead = isShared || (marker !== '' && (read < MOST_READ || showsMetadata || missing.length > 0));
      const isKnown = isOld || gone.has(change) || !isRead;
      const now = isKnown ? undefined : await cardNow(work, card);
      if (!isKnown) read += 1;
      const why = isOld
        ? `card ${card} is older than this operation`
        : gone.has(change)
          ? `the answer named card ${card}, and no reading shows it`
          : isRead && marker !== '' && !mayCarry(now, marker)
            ? `card ${card} does not carry the marker of this run, so it is not the one asked for`
            : isShared && (marker === '' || now?.metadata?.[MARKER_KEY] !== marker)
              ? `the answer named card ${card}, and so did that of another row`
              : undefined;
      if (why !== undefined) missing.push({ change, reason: why });
    } else if (card !== '' && !marked.includes(card)) {
      // The answered card may only be listed without its metadata.
      if (mayCarry(await cardNow(work, card), marker)) {
        objections.push(...duplicateNotes(n, [card, ...marked]));
        continue;
      }
      objections.push(
        `row ${n}: the answer named the card ${card}, which is another one; the card of row ${n} is ${marked.join(', ')}, which carries its marker`,
      );
      found.push({ change, card: first });
    } else {
      if (marked.length > 1) objections.push(...duplicateNotes(n, ownFirst(change, marked)));
      if (!isRefused(change)) continue;
      objections.push(`row ${n} was refused, and made all the same: ${marked.join(', ')} carries its marker`);
      found.push({ change, card: first });
    }
  }
  return { objections, found, missing, unclear };
}

/** An answer may hold our marker beside the id of a card that was there before; one whose metadata is not shown may be ours. */
function mayCarry(card: Awaited<ReturnType<typeof cardNow>>, marker: string): boolean {
  return (
    card !== undefined &&
    (card.metadata === undefined || card.metadata === null || card.metadata[MARKER_KEY] === marker)
  );
}

/** A list may be behind; a card that is not in it is asked for by its id, and again a little later. */
async function notThere(work: Work, unlisted: readonly Change[]): Promise<ReadonlySet<Change>> {
  let left = unlisted;
  for (const pause of [...READ_LAG_PAUSES, undefined]) {
    const gone: Change[] = [];
    for (const change of left) if ((await cardNow(work, change.card ?? '')) === undefined) gone.push(change);
    left = gone;
    if (left.length === 0 || pause === undefined || !(await rest(pause, work.clock, work.stop))) break;
  }
  return new Set(left);
}

/** Undefined where there is none. */
const cardNow = ({ reader }: Work, id: string) => undefinedOn('not_found', reader.read('cards.get', { card_id: id }));

/** The wallet of a run of many: what it lost more than the done rows explain may be a row that was done twice, or was refused. */
async function compareWallet(
  work: Work,
  changes: readonly Change[],
  before: number | undefined,
  remarks: string[],
): Promise<Compared> {
  const isSettled = changes.every(change => isRefused(change) || !['sent', 'unknown'].includes(change.state));
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
