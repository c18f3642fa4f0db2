/**
 * The look: whether the effect of a change is there. A create by its marker, a transfer by the balance of its card (and the wallet,
 * where nothing else of this journal moves it), a state by reading it, a subscription by the list of them. Lists and replicas may be
 * behind, so it looks again for 8.75 seconds (`READ_LAG`) before it says that something is not there, and a balance counts
 * where it cannot be from before an earlier transfer of this journal. It only reads.
 */

import { fixedDifferences, isSubscribed, proofOf, unshown } from '../contract/evidence.ts';
import type { Reader } from '../contract/service.ts';
import { OWN_MOVE_COUNTS, READ_LAG, READ_LAG_PAUSES, RECENT } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../core/money.ts';
import { rest } from '../platform/time.ts';
import { type Database, type Sql, sql } from './database.ts';
import { MARKER_KEY, markerOf } from './names.ts';
import type { Before, Change, Evidence, Look, Op } from './records.ts';
import { rowOf, timeOf, type Work } from './work.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Looks until the effect is there, or for `READ_LAG` and the pauses behind it. Never throws for the service's sake: what cannot be
 * read cannot be told.
 */
export async function look(work: Work, change: Change, more: readonly number[] = []): Promise<Look> {
  const left = await staleLeft(work, change);
  if (left > 0) await rest(left, work.clock, work.stop);
  const pauses = work.exact || work.lookOnly ? [] : [...READ_LAG_PAUSES, ...more];
  for (const pause of [...pauses, undefined]) {
    const seen = await lookOnce(work, change);
    if (isThere(seen) || seen.isFinal || pause === undefined) return seen;
    if (await rest(pause, work.clock, work.stop)) continue;
    return {
      ...seen,
      found: 'cannot tell',
      letsRefusalStand: false,
      text: `${seen.text}, and there was no time to look again`,
    };
  }
  throw new RangeError('a look has an end');
}

export const isThere = ({ found }: Look): boolean => found === 'there' || found === 'several';

/** One look. What a reading has spoken for once stays: a balance that it showed is spent and paid back, and then proves nothing. */
export async function lookOnce(work: Work, change: Change): Promise<Look> {
  const seen = await lookNow(work, change);
  const { spoke } = change.evidence;
  if (isThere(seen) || spoke === seen.text) return seen;
  if (spoke !== undefined)
    return { ...seen, found: 'cannot tell', text: `${seen.text}, and an earlier reading spoke for it: ${spoke}` };
  if (speaksFor(seen, change)) change.evidence = { ...change.evidence, spoke: seen.text };
  return seen;
}

async function lookNow(work: Work, change: Change): Promise<Look> {
  const { transfer, readBack, removesFrom, makes } = rowOf(change.operation);
  try {
    if (makes === 'card') return await lookForCard(work, change);
    if (transfer !== undefined) return await lookForBalances(work, change);
    if (readBack !== undefined) return await lookForState(work.reader, change);
    if (removesFrom !== undefined) return await lookForRemoved(work.reader, change);
    if (makes === 'webhook') return await lookForSubscription(work.reader, change);
    return { found: 'cannot tell', text: 'there is no trace to look for', isFinal: true, letsRefusalStand: true };
  } catch (thrown) {
    const { kind, message, facts } = failedReading(thrown);
    return {
      found: 'cannot tell',
      text: `it could not be looked for: ${message}`,
      isFinal: kind === 'unreachable' || kind === 'not_authenticated',
      isUnread: true,
      // That a card or a subscription is not there is an answer, too.
      letsRefusalStand: kind === 'not_found' && facts.operation === (readBack ?? 'cards.get'),
    };
  }
}

/** Why a reading failed; throws a bug. */
export function failedReading(thrown: unknown): CliError {
  if (thrown instanceof CliError && thrown.kind !== 'internal') return thrown;
  throw thrown;
}

async function lookForCard(work: Work, change: Change): Promise<Look> {
  const marker = change.marker;
  const binId = String(change.input['bin_id']);
  const answered = await cardOfAnswer(work, change);
  if (answered !== undefined) return answered;
  if (marker === undefined) {
    const wallet = await walletMoved(work, change, work.exact ? 0 : OWN_MOVE_COUNTS);
    const text = `the card carries no marker to look for${wallet === undefined ? '' : `, wallet ${wallet.text}`}`;
    // The wallet alone tells of it: where it has moved, or is no evidence, nothing speaks against the change.
    return {
      found: wallet?.change === 0 ? 'not there' : 'cannot tell',
      text,
      isFinal: wallet === undefined,
      letsRefusalStand: work.exact || wallet?.change === 0,
      moved: { card: 0, wallet: wallet?.change },
    };
  }
  const where = `cards of ${binId} with the marker ${marker}`;
  const { cards, unreadable, unmarked, incomplete } = await work.marked(marker, binId);
  const ids = cards.map(card => String(card['id']));
  if (ids.length > 1) return { found: 'several', text: `${where}: ${ids.join(', ')}`, cards };
  if (ids.length === 1) return { found: 'there', text: `${where}: ${ids[0]}`, cards, result: cards[0] };
  const wallet = await walletMoved(work, change);
  const none = wallet === undefined ? `${where}: none` : `${where}: none, wallet ${wallet.text}`;
  const moved = wallet === undefined ? undefined : { card: 0, wallet: wallet.change };
  if (unreadable.length > 0) {
    const text = `${none}, but ${unreadable.join(', ')} without metadata`;
    // A service that shows no metadata has its wallet to speak.
    return { found: 'cannot tell', text, moved, letsRefusalStand: work.exact || wallet?.change === 0 };
  }
  if (incomplete !== undefined)
    return { found: 'cannot tell', text: `${none}, but the list may be incomplete: ${incomplete}` };
  // Without the wallet an empty list is no evidence as long as it may be behind.
  const now = await timeOf(work);
  const isYoung = now - (change.lastSentAt ?? now) < work.quietMs;
  if (work.alone && !work.exact && wallet === undefined && isYoung) {
    const why = change.before?.wallet === undefined ? 'before is not known' : 'may have been moved by other purchases';
    return { found: 'cannot tell', text: `${none}; the wallet ${why}`, letsRefusalStand: true };
  }
  // A service may drop a marker, and its wallet speaks all the same.
  const isStill = wallet === undefined || wallet.change === 0;
  const other = unmarked.find(card => mayBeIt(card, change, now));
  const others = other === undefined ? '' : `; ${String(other['id'])} was made about then and carries no marker`;
  const found = isStill ? 'not there' : 'cannot tell';
  return { found, text: `${none}${others}`, letsRefusalStand: isStill, isClear: others === '', moved };
}

/** A card without a marker that was made about then, and in which nothing is otherwise than was asked for. */
function mayBeIt(card: Values, { input, lastSentAt }: Change, now: number): boolean {
  const isThen = Date.parse(String(card['created_at'])) <= (lastSentAt ?? now) + RECENT;
  return isThen && fixedDifferences(card, { ...input, metadata: undefined }).length === 0;
}

/** The card that the answer named, where it carries the marker, or without one is all that was asked for. It may be of another BIN. */
async function cardOfAnswer(
  { reader, op }: Work,
  { operation, input, evidence, marker }: Change,
): Promise<Look | undefined> {
  if (evidence.made === undefined) return undefined;
  try {
    const card = await reader.read('cards.get', { card_id: evidence.made });
    const judged = { alone: true, plannedAt: op.created };
    const isOurs =
      marker === undefined
        ? proofOf({ row: rowOf(operation), input }, card, judged).differences.length === 0
        : card.metadata?.[MARKER_KEY] === marker;
    return isOurs ? { found: 'there', text: `card ${evidence.made} of the answer`, result: card } : undefined;
  } catch (thrown) {
    failedReading(thrown);
    return undefined;
  }
}

/** What the wallet of a single create says; undefined where it is no evidence. `lag`: so old the reading before may have been, ms. */
async function walletMoved(work: Work, { before }: Change, lag = 0) {
  if (!work.alone || before?.wallet === undefined || (await othersMovedWallet(work, before.at - lag))) return undefined;
  const now = await walletNow(work.reader);
  return { change: now - before.wallet, text: arrow(before.wallet, now) };
}

async function lookForBalances(work: Work, change: Change): Promise<Look> {
  const { before, card: cardId = '', amount } = change;
  const now = await balancesNow(work, cardId);
  if (before?.card === undefined)
    return { found: 'cannot tell', text: 'the balances before are not known', isFinal: true };
  const isAlone =
    before.wallet !== undefined && now.wallet !== undefined && !(await othersMovedWallet(work, before.at));
  const card = now.card - before.card;
  const wallet = before.wallet === undefined || now.wallet === undefined ? undefined : now.wallet - before.wallet;
  const wanted = addedBy(change);
  const walletText = wallet === undefined ? '' : `, wallet ${arrow(before.wallet ?? 0, now.wallet ?? 0)}`;
  const others = wallet !== undefined && !isAlone ? ', which others of this journal moved too' : '';
  const text = `card ${cardId} ${arrow(before.card, now.card)}${walletText}${others}`;
  const result = {
    card_id: cardId,
    amount: amount / 100,
    card_balance: now.card / 100,
    ...(now.wallet !== undefined && { wallet_balance: now.wallet / 100 }),
  };
  const seen = { text, moved: { card, wallet: isAlone ? wallet : undefined }, result };
  // What another change of this journal has moved on the card speaks neither for this one nor against it.
  if (await othersMovedCard(work, change, before.at))
    return { ...seen, found: 'cannot tell', text: `${text}, and others of this journal moved the card` };
  if (card === wanted && (await staleLeft(work, change)) > 0)
    return { ...seen, found: 'cannot tell', text: `${text}, as it was moments before` };
  if (card === wanted && (!isAlone || wallet === -wanted)) return { ...seen, found: 'there' };
  // Where anything has moved the card, no reading speaks against the change.
  const isStill = card === 0 && (!isAlone || wallet === 0);
  return { ...seen, found: isStill ? 'not there' : 'cannot tell', letsRefusalStand: card === 0 };
}

async function lookForState(reader: Reader, { operation, input }: Change): Promise<Look> {
  const row = rowOf(operation);
  const params = Object.fromEntries(Object.keys(row.params ?? {}).map(name => [name, input[name]]));
  const resource: Values = await reader.read(row.readBack as 'cards.get', params as never);
  const { id, status } = resource;
  const isShown = unshown({ row, input }, resource, undefined) === undefined;
  const says = isShown ? 'shows what was sent' : 'does not show what was sent';
  const text = row.leadsTo === undefined ? `${id} ${says}` : `card ${id}: ${status}`;
  if (isShown) return { found: 'there', text, result: resource };
  // A terminated card is neither frozen nor active again.
  const isOver = row.leadsTo !== undefined && status === 'terminated';
  return {
    found: isOver ? 'cannot tell' : 'not there',
    text,
    letsRefusalStand: true,
    isFinal: isOver,
    result: resource,
  };
}

/** The state before the deletion of what is not listed. */
export const UNLISTED = 'unlisted';

async function lookForRemoved(reader: Reader, { operation, input }: Change): Promise<Look> {
  const { list = '', id = '' } = rowOf(operation).removesFrom ?? {};
  const { data, page } = await reader.read(list as 'webhooks.list', {});
  if (data.some(each => each.id === input[id]))
    return { found: 'not there', text: 'it is still listed', letsRefusalStand: true };
  // Of several pages the first proves nothing.
  if ((page.total ?? 0) > data.length) return { found: 'cannot tell', text: 'the list has more pages', isFinal: true };
  return { found: 'there', text: 'it is not listed' };
}

/** Its secret stands in the answer alone: a subscription that is there is of no use, and may be of somebody else. */
async function lookForSubscription(reader: Reader, { input }: Change): Promise<Look> {
  const { data } = await reader.read('webhooks.list', {});
  const there = data.find(each => isSubscribed(each, input));
  if (there === undefined)
    return { found: 'not there', text: 'no such subscription is listed', letsRefusalStand: true };
  const text = `${there.id} has this address and these events, and its secret was told in the lost answer alone`;
  return { found: 'cannot tell', text, isFinal: true };
}

/**
 * Whether another op of this journal may have moved the wallet since a time: then it is no evidence. Asked after the reading: what
 * the reading shows was marked as sent before.
 */
export function othersMovedWallet({ database, op }: Work, since: number): Promise<boolean> {
  const moving = sql`${ofAccount(op)} and c.op <> ${op.id}
    and c.operation in ('cards.create', 'cards.fund', 'cards.withdraw', 'cards.terminate')`;
  const found = sql`select 1 as yes from ${moving} and c.decided_at >= ${since} and c.attempts > 0
    union all select 1 as yes from ${moving} and c.state = 'sent' and c.last_sent_at > ${since - RECENT} limit 1`;
  return isAny(database, found);
}

/** All changes of the account of an op. */
const ofAccount = ({ account }: Op) => sql`change c join op o on o.id = c.op where o.account = ${account}`;

/** Whether another change of this journal has moved a card, or may have, since this one took the balance before. */
function othersMovedCard({ database, op }: Work, { n, card = '' }: Change, since: number): Promise<boolean> {
  const found = sql`select 1 as yes from ${ofAccount(op)} and c.card = ${card} and not (c.op = ${op.id} and c.n = ${n})
    and c.operation in ('cards.fund', 'cards.withdraw', 'cards.terminate')
    and (c.state = 'sent' or (c.state in ('done', 'unknown') and c.decided_at > ${since})) limit 1`;
  return isAny(database, found);
}

const isAny = async (database: Database, found: Sql): Promise<boolean> =>
  (await database.read(tx => tx.all(found))).length > 0;

/**
 * What this journal has moved on the card of a transfer moments ago, newest first: how long, ms, a reading may still be from before
 * it; the cents that it added to a card that was there; the balance that is known to be left. Of the built-in sandbox nothing: its
 * readings are never behind.
 */
async function movedLately({ database, op, exact }: Work, { n, card = '', operation }: Change) {
  if (exact || rowOf(operation).transfer === undefined) return [];
  const moves = await database.read(async tx => {
    const now = await tx.now();
    return tx.all<{ operation: string; amount: number; evidence: string; left: number }>(
      sql`select c.operation, c.amount, c.evidence, c.decided_at + ${OWN_MOVE_COUNTS} - ${now} as left
        from ${ofAccount(op)} and c.card = ${card} and not (c.op = ${op.id} and c.n = ${n}) and c.state = 'done'
        and c.operation in ('cards.create', 'cards.fund', 'cards.withdraw')
        and c.decided_at > ${now - OWN_MOVE_COUNTS} order by c.decided_at desc`,
    );
  });
  return moves.map(({ operation: moved, amount, evidence, left }) => {
    const { balance, via } = JSON.parse(evidence) as Evidence;
    const isMade = moved === 'cards.create';
    return {
      // A clock that was set back makes it no longer.
      left: Math.min(Number(left), OWN_MOVE_COUNTS),
      added: isMade ? Number.NaN : addedBy({ operation: moved, amount: Number(amount) }),
      balance: isMade && via !== 'answer' ? undefined : balance,
    };
  });
}

/** How long, ms, a reading from before an earlier transfer of this journal may look as if this one were there. */
async function staleLeft(work: Work, change: Change): Promise<number> {
  let earlier = 0;
  for (const { added, left } of await movedLately(work, change)) {
    earlier -= added;
    if (earlier === addedBy(change)) return left;
  }
  return 0;
}

/** Cents that a transfer adds to its card. */
const addedBy = ({ operation, amount }: { readonly operation: string; readonly amount: number }) =>
  operation === 'cards.fund' ? amount : -amount;

/** Cents that this journal has added to a card, or to the wallet, so lately that a reading may not show them. */
export async function addedLately({ database, op }: Work, card: string | undefined): Promise<number> {
  const adding =
    card === undefined
      ? sql`c.operation in ('cards.withdraw', 'cards.terminate')`
      : sql`c.operation in ('cards.create', 'cards.fund') and c.card = ${card}`;
  const found = await database.read(tx =>
    tx.all<{ operation: string; cents: number }>(
      sql`select c.operation, sum(c.amount) as cents from ${ofAccount(op)} and c.op <> ${op.id}
        and coalesce(c.decided_at, c.last_sent_at) >= ${op.created - READ_LAG} and ${adding} group by c.operation`,
    ),
  );
  // What a terminated card held is not known.
  return found.reduce((sum, each) => (each.operation === 'cards.terminate' ? Infinity : sum + Number(each.cents)), 0);
}

/**
 * What is read just before a change is sent first: again, until it shows what this journal has made of the card moments ago. Throws
 * as reading does; nothing was sent then.
 */
export async function readBefore(work: Work, change: Change, at: number): Promise<Before | undefined> {
  for (let pause = 250; ; pause *= 2) {
    const [moved] = await movedLately(work, change);
    const before = await readOnceBefore(work, change, at);
    const isCurrent = moved === undefined || (moved.balance !== undefined && moved.balance === before?.card);
    if (isCurrent || pause > OWN_MOVE_COUNTS) return before;
    if (!(await rest(Math.min(pause, moved.left), work.clock, work.stop))) return before;
  }
}

async function readOnceBefore(work: Work, change: Change, at: number): Promise<Before | undefined> {
  const { before: reader, alone, exact, op } = work;
  const { transfer, leadsTo, removesFrom, effect } = rowOf(change.operation);
  try {
    if (change.operation === 'cards.create') {
      return alone && !exact ? { at: op.created, wallet: await walletNow(reader) } : undefined;
    }
    if (transfer !== undefined) return { at, ...(await balancesNow({ reader, alone }, change.card ?? '')) };
    if (removesFrom !== undefined) {
      return (await lookForRemoved(reader, change)).found === 'there' ? { at, status: UNLISTED } : undefined;
    }
    if (leadsTo === undefined) return undefined;
    const card = await reader.read('cards.get', { card_id: String(change.input['card_id']) });
    return { at, status: card.status, last4: card.last4 };
  } catch (thrown) {
    const { kind, facts } = failedReading(thrown);
    // A state that cannot be read is no reason not to set it, but for a key that is not accepted.
    const isNoReason = transfer === undefined && effect !== 'moves-money' && leadsTo?.value !== 'terminated';
    // Of what is not there the service's answer to the change itself counts.
    if (kind === 'not_found' || (isNoReason && facts.httpStatus !== 401)) return undefined;
    throw thrown;
  }
}

async function balancesNow({ reader, alone }: Pick<Work, 'reader' | 'alone'>, cardId: string) {
  const [card, wallet] = await Promise.all([
    reader.read('cards.get', { card_id: cardId }),
    alone ? walletNow(reader) : undefined,
  ]);
  return { card: money(card.balance, 'balance of the card'), status: card.status, last4: card.last4, wallet };
}

export async function walletNow(reader: Reader): Promise<Cents> {
  return money((await reader.read('wallet.get', {})).balance, 'balance of the wallet');
}

function money(value: number, what: string): Cents {
  const amount = centsOf(value);
  if (amount === undefined) throw new CliError('contract_mismatch', { message: `the ${what} is not an amount` });
  return amount;
}

/**
 * Whether only a request that is still on its way can hide what was not found. What is spent or paid back hides a transfer where its
 * card alone is read, as in a file, and a young card without a marker may be the one of a create: that is never sent again because a
 * person lets it be.
 */
export function showsAll({ found, isClear, moved }: Look, { operation }: Change): boolean {
  const isPlain = rowOf(operation).transfer === undefined ? isClear !== false : moved?.wallet !== undefined;
  return found === 'not there' && isPlain;
}

/** Whether a reading speaks for a change, whatever was answered, or an earlier one did: it is there, or a balance has moved by its amount. */
export function speaksFor({ found, moved }: Look, { amount, evidence }: Change): boolean {
  const isMoved = [moved?.card, moved?.wallet].some(by => by !== undefined && amount > 0 && Math.abs(by) === amount);
  return evidence.spoke !== undefined || found === 'there' || found === 'several' || isMoved;
}

/** What of a card with the marker of a create is otherwise than was asked for; of a new one its balance and state too. */
export function otherwise(card: Values, { input, amount }: Change, isNew: boolean): readonly string[] {
  const fixed = fixedDifferences(card, input);
  if (!isNew) return fixed;
  const holds = typeof card['balance'] === 'number' ? centsOf(card['balance']) : undefined;
  return [
    ...fixed,
    ...(holds === undefined || holds === amount
      ? []
      : [`it holds ${dollars(cents(holds))}, and ${dollars(cents(amount))} was asked for`]),
    ...(card['status'] === 'active' ? [] : ['it is not active']),
  ];
}

/** Whether a marker is the op's own, and not one that follows from an intention and that others may use. */
export function isOwnMarker({ op, n, marker }: Change): boolean {
  return marker === markerOf(op, n);
}

function arrow(was: number, is: number): string {
  return `${dollars(cents(was))} -> ${dollars(cents(is))}`;
}
