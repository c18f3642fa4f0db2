/** What random histories look at: the state around a step, and what a step must not have done to it. */
import type { DomainWorld, Told } from './domain-world.ts';

interface CardState {
  readonly id: string;
  readonly status: string;
  readonly balance: number;
  readonly auto_freeze_at: number | null;
  readonly spending_limit: number;
  readonly max_transaction: number;
}
interface Purchase {
  readonly id: string;
  readonly card_id: string;
  readonly status: string;
  readonly amount: number;
  readonly held: number;
  readonly settled: number;
  readonly created_at: number;
}
export interface State {
  readonly cards: readonly CardState[];
  readonly purchases: readonly Purchase[];
  readonly challenges: readonly { readonly id: string }[];
  readonly deposits: readonly { readonly id: string; readonly status: string }[];
  readonly postings: readonly unknown[];
  readonly wallet: number;
}

export function look(world: DomainWorld): Promise<State> {
  return world.read(async sql => ({
    cards: await sql.all<CardState>(
      `select c.id, c.status, c.balance, c.auto_freeze_at, c.spending_limit, b.max_transaction
       from cards c join bins b on b.id = c.bin_id order by c.id`,
    ),
    purchases: await sql.all<Purchase>(
      `select id, card_id, status, amount, held, settled, created_at from transactions
       where type = 'authorization' order by id`,
    ),
    challenges: await sql.all('select id from challenges order by id'),
    deposits: await sql.all('select id, status from deposits order by id'),
    postings: await sql.all('select * from postings order by entry_id, ledger'),
    wallet: (await sql.get<{ balance: number }>('select balance from wallets'))?.balance ?? 0,
  }));
}

export interface Look {
  /** Which of the cards or authorizations the step was about. */
  readonly pick: number;
  readonly before: State;
  readonly after: State;
  readonly told: readonly Told[];
  readonly outcome: string;
  readonly now: number;
}

/** What the ledger check cannot see because it is about a change. */
export function brokenByChange({ pick, before, after, told, outcome, now }: Look): string[] {
  const broken: string[] = [];
  const settled = before.purchases[pick % Math.max(1, before.purchases.length)];
  const left = after.purchases.find(known => known.id === settled?.id)?.held;
  if (outcome === 'settle settled' && left !== 0) broken.push(`a final settlement left ${left} held`);
  const prefix = after.postings.slice(0, before.postings.length);
  if (JSON.stringify(prefix) !== JSON.stringify(before.postings)) broken.push('I1 an entry changed');
  const moved = after.postings.length !== before.postings.length;
  if (moved && /refused|declined|challenged|pending|freeze/.test(outcome)) broken.push(`I12 ${outcome} moved money`);
  for (const was of before.cards) {
    const is = after.cards.find(card => card.id === was.id);
    if (is === undefined) broken.push(`${was.id} is gone`);
    else broken.push(...brokenOnCard(was, is, told));
  }
  for (const purchase of after.purchases) {
    if (before.purchases.some(known => known.id === purchase.id)) continue;
    broken.push(...brokenApproval(before, purchase, now));
  }
  return broken;
}

function brokenOnCard(was: CardState, is: CardState, told: readonly Told[]): string[] {
  const broken: string[] = [];
  const line = was.auto_freeze_at;
  if (was.status === 'active' && is.status !== 'terminated' && is.balance < was.balance) {
    const expected = line !== null && is.balance < line ? 'frozen' : 'active';
    if (is.status !== expected) broken.push(`I15 ${is.id} at ${is.balance} with line ${line} is ${is.status}`);
  }
  if (was.status === 'terminated') {
    const spoken = told.some(({ event, data }) => event.startsWith('card.') && data['id'] === was.id);
    if (is.status !== 'terminated' || spoken) broken.push(`I16 ${was.id} came back`);
  }
  return broken;
}

function brokenApproval(before: State, purchase: Purchase, now: number): string[] {
  const card = before.cards.find(known => known.id === purchase.card_id);
  if (card === undefined) return ['an approval on a card that was not there'];
  const month = new Date(now).toISOString().slice(0, 7);
  const used = before.purchases
    .filter(known => known.card_id === card.id && new Date(known.created_at).toISOString().startsWith(month))
    .reduce((sum, known) => sum + known.held + known.settled, 0);
  const fine =
    card.status === 'active' &&
    used + purchase.amount <= card.spending_limit &&
    purchase.amount <= card.max_transaction &&
    purchase.amount <= card.balance;
  return fine ? [] : [`I11 ${purchase.id} of ${purchase.amount} was approved on ${JSON.stringify(card)}`];
}

export function alsoSeen({ before, after, told, outcome }: Look): string[] {
  const seen: string[] = [];
  const frozen = told.some(({ event }) => event === 'card.frozen');
  if (frozen && !outcome.startsWith('freeze')) seen.push('frozen by itself');
  const over = after.cards.some(card => card.balance < 0);
  if (over) seen.push('over settled');
  for (const purchase of before.purchases) {
    const later = after.purchases.find(known => known.id === purchase.id);
    if (later === undefined) continue;
    if (purchase.status !== 'pending' && later.settled > purchase.settled) seen.push('settled after the end');
    const card = before.cards.find(known => known.id === purchase.card_id);
    if (card?.status === 'terminated' && later.held < purchase.held && later.settled === purchase.settled) {
      seen.push('released to the wallet');
    }
  }
  return seen;
}
