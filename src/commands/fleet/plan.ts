/** `fleet plan`: the file, the account as it is now and the journal of this machine make a plan. Reads alone. */

import { Activities } from '../../books/activity.ts';
import { effectOf } from '../../books/records.ts';
import type { Context } from '../../cli/context.ts';
import { pagesWithProgress } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { eachTime, local, option, takes } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { recentCards } from '../../cli/recent-cards.ts';
import { fromWholeList, incompleteList } from '../../contract/service.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import type { Identity } from '../../core/identity.ts';
import { type Cents, cents, centsOf, dollars, toCents } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import {
  type Account,
  AccountCards,
  type CardRecords,
  type ListedCard,
  MARKER_KEY,
  type Match,
  matchCards,
} from '../../fleet/account.ts';
import { BIN_NEEDS, type Fleet } from '../../fleet/fleet-file.ts';
import { cardsToRead, planFleet } from '../../fleet/plan.ts';
import { differs, nextPlanName, PLAN, type PlanDocument, planDocument } from '../../fleet/plan-file.ts';
import { planText } from '../../fleet/plan-page.ts';
import {
  type Allowed,
  createChain,
  GUARDED_CLASSES,
  type Locked,
  type NumberedStep,
  type PlanInput,
  type Scope,
} from '../../fleet/step.ts';
import { type Change as JournalChange, rowState } from '../../journal/records.ts';
import { recordValues } from '../../mirror/store.ts';
import { fillingWallet } from '../../writes/single-write.ts';
import { type Bin, binFor, rankBins } from '../bins/bins.ts';
import { money } from '../cards/cards.ts';
import { FLEET_FORMAT, fleetFile, fleetOf, type NamedFleet } from './file.ts';

export const planFleetFile = command({
  path: 'fleet plan',
  summary: 'Show how the cards differ from a fleet file, and the steps to it',
  reach: 'service',
  answers: { one: PLAN },
  ends: {
    differs: 'With --exit-code, something is to be done or decided. The plan is printed.',
    outcome_unknown: 'An operation on a card of the file has no known outcome. The rest of the plan is printed.',
    contract_mismatch: 'The list of cards may be incomplete, so a card could be made a second time.',
    guarded: 'Beyond the caps of the file, another number than --allow says, or a renamed fleet.',
    check_failed: 'Two cards stand for one name, or one card for two. Nothing is planned.',
  },
  about: [
    'Only reads. There is no state file: a card belongs to the fleet by its marker (metadata cardwright: fleet/<fleet>/<name>#<generation>) or because the file names its id.',
    'Held back until their exact number is allowed: unfreeze (somebody froze it), recreate (somebody terminated it), terminate (its quarantine is over), removals (more than one card would be frozen, or the last).',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    out: option(local('file', 'Write the plan to a new file, for fleet apply --plan.'), '<file>'),
    noAmounts: option(takes.flag('Print the page without amounts and balances, for a pull request.')),
    exitCode: option(
      takes.choice(
        ['any', 'drift'],
        'End with 16 where anything is to be done or decided, or only where the service has changed.',
      ),
    ),
    // Of plan alone: an apply takes the numbers from its plan or asks for them.
    allow: eachTime(
      option(
        takes.text(`Plan steps that are held back: ${GUARDED_CLASSES.join(', ')}, with their exact number.`),
        '<class=count>',
      ),
    ),
  },
  examples: {
    'What would change': 'fleet plan',
    'Fail a CI job when somebody changed a card at the service': 'fleet plan --exit-code drift',
    'A plan for a review': 'fleet plan --out plan.json --no-amounts',
  },
  async run(ctx, { file, out, noAmounts, exitCode, allow = [] }) {
    const named = await fleetOf(ctx, file);
    const { document } = await makePlan(ctx, named, { allowed: allowedOf(allow) });
    const next =
      out === undefined
        ? `cardwright fleet plan ${named.word} --out plan.json`
        : `cardwright fleet apply ${named.word} --plan ${shellWord(out)}`;
    const failure = failureOf(document, exitCode, next);
    // The very bytes that `--json` prints.
    if (out !== undefined && failure?.kind !== 'guarded')
      await ctx.files.createFile(out, `${JSON.stringify(document, null, 2)}\n`).catch((thrown: unknown) => {
        const isThere = thrown instanceof CliError && thrown.facts.reason === 'exists';
        const other = `cardwright fleet plan ${named.word} --out ${shellWord(nextPlanName(out))}`;
        throw isThere ? thrown.with({ hint: other }) : thrown;
      });
    return { data: { ...document }, page: planText(document, { amounts: noAmounts !== true }), failure };
  },
  noun: 'plan',
  show: ({ page, data, failure }) => ({ data, prose: page, failure }),
});

/** `unfreeze=2` and the like. Throws `usage`. */
function allowedOf(texts: readonly string[]): Allowed {
  const allowed: Record<string, number> = {};
  for (const typed of texts) {
    const [, name = '', count = ''] = /^([a-z]+)=(\d{1,6})$/.exec(typed) ?? [];
    const known = GUARDED_CLASSES.find(each => each === name);
    if (known === undefined) {
      throw usage(
        `--allow ${quote(typed)} is not a class with its number, such as unfreeze=2: ${GUARDED_CLASSES.join(', ')}`,
      );
    }
    if (known in allowed) throw usage(`--allow names ${known} twice`);
    allowed[known] = Number(count);
  }
  // In one order, however they were typed: the plan's id covers them.
  return Object.fromEntries(GUARDED_CLASSES.flatMap(name => (name in allowed ? [[name, allowed[name]]] : [])));
}

/** What the exit code says of a plan that was printed. */
function failureOf(document: PlanDocument, exitCode: 'any' | 'drift' | undefined, next: string): CliError | undefined {
  const over = overCaps(document);
  if (over !== undefined) return over;
  const [unknown] = document.unknown;
  if (unknown !== undefined) {
    const { length } = document.unknown;
    return new CliError('outcome_unknown', {
      message: `${length === 1 ? `what became of ${unknown.name} is` : `what became of ${length} cards is`} not known; nothing is planned for ${length === 1 ? 'it' : 'them'}`,
      hint: `cardwright ops resume ${unknown.op}`,
      op: unknown.op,
    });
  }
  if (exitCode === undefined) return undefined;
  const drifted = document.differences.filter(each => each.class === 'drift');
  const isOther = exitCode === 'drift' ? drifted.length > 0 : differs(document);
  if (!isOther) return undefined;
  const { steps, blocked, held_back: held, fleet } = document;
  const parts = [
    [steps.length, 'to do'],
    [blocked.length, 'blocked'],
    [held.reduce((all, { count }) => all + count, 0), 'held back'],
  ] as const;
  const texts = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const what = exitCode === 'drift' ? `${drifted.length} changed at the service` : texts.join(', ');
  return new CliError('differs', {
    message: `the cards of ${fleet} differ from the file: ${what}. Nothing was sent`,
    // Without a step there is no command: the page tells what to write into the file, or to allow.
    ...(steps.length > 0 && { hint: next }),
    outcome: 'not_sent',
  });
}

export interface PlanOptions {
  readonly allowed: Allowed;
  /** The plan that is carried out: its BINs are taken, and its witness is asked for. */
  readonly of?: PlanDocument | undefined;
}

export interface MadePlan {
  readonly document: PlanDocument;
  readonly account: Account;
  readonly scope: Scope;
  /** Cards that applies of this machine have made there. */
  readonly made: ReadonlySet<string>;
}

/** Throws as `planFleet` and `readAccount` do; `contract_mismatch` where a card would be made that could not be told. */
export async function makePlan(ctx: Context, named: NamedFleet, { allowed, of }: PlanOptions): Promise<MadePlan> {
  const { fleet, content, name: file } = named;
  const { baseUrl: origin, mode } = await ctx.api.identity();
  const scope: Scope = { origin, mode, fleet: fleet.name };
  const { unknown, made } = await readFleetJournal(ctx, origin);
  // A sandbox that was begun anew gives its ids again, and shows all of every card.
  const marked = mode === 'sandbox' ? new Set<string>() : made;
  const { account, bins, showsMarkers, cards } = await readAccount(ctx, fleet, {
    witness: of?.bound.witness,
    marked,
  });
  const match = matchCards(fleet, account);
  const records = await readRecords(ctx, cardsToRead(fleet, account, match), account.now);
  const locked = lockedNames(unknown, match, scope);
  // The BINs that the plan has chosen.
  const chosen = new Map(
    of?.steps.flatMap(step => (step.do === 'create' ? [[step.name, step.body.bin_id] as const] : [])),
  );
  const best = bestOf(bins);
  const pickBin: PlanInput['pickBin'] = (wish, wanted) => chosen.get(wanted.name) ?? best(wish, wanted);
  const planned = planFleet({ fleet, file, account, match, records, scope, allowed, locked, pickBin });
  if (!showsMarkers && planned.steps.some(step => step.do === 'create'))
    throw notSent(
      'contract_mismatch',
      'this service does not show what a card was made with, so that a card of the fleet would look like any other: none is made',
      { notes: ['Make the card with cardwright cards create, then adopt it with cardwright fleet import --card'] },
    );
  if (mode !== 'sandbox') refuseLikelyDuplicates(planned.steps, cards);
  const overrides = await ctx.api.overrides();
  const around = { fleet, account, scope, allowed, content, overrides, version: ctx.version };
  return { document: planDocument(planned, around), account, scope, made };
}

/** The best BIN by the ranks of `bins pick`, of those that take as much a month. */
function bestOf(bins: readonly Bin[]): PlanInput['pickBin'] {
  return (wish, { least }) => {
    if (wish.by === 'auto') return binFor(bins, least)?.id;
    const { need: needs, for: purpose, min_transaction: minTransaction } = wish;
    return rankBins(bins, { needs, purpose, minTransaction, minMonthly: least })[0]?.bin.id;
  };
}

/** On another machine its create may have made the very card, where the service shows no metadata of any card. */
function refuseLikelyDuplicates(steps: readonly NumberedStep[], cards: AccountCards): void {
  for (const step of steps) {
    if (step.do !== 'create') continue;
    const { label } = step.body;
    const card = cards.unmarkedWith(label ?? '');
    if (card === undefined) continue;
    const labelled = label === undefined ? 'no label, as the file says' : `the label ${JSON.stringify(label)}`;
    throw notSent(
      'contract_mismatch',
      `no card here shows metadata, and ${card} has ${labelled}: it may be the card of ${step.name} already. Nothing was planned`,
      {
        notes: [
          `When it is: write card: ${card} at ${step.name} in the file.`,
          `When it is not: give ${step.name} another label.`,
        ],
        hint: `cardwright cards get ${shellWord(card)}`,
      },
    );
  }
}

/** `guarded` for a plan beyond the caps of its file. */
export function overCaps({ totals, caps, fleet, cards_after: cards }: PlanDocument): CliError | undefined {
  const over: string[] = [];
  if (totals.create + totals.fund > 0 && totals.spend > caps.per_apply) {
    over.push(`it would spend ${money(totals.spend)}, and caps.per_apply is ${money(caps.per_apply)}`);
  }
  if (totals.create > 0 && cards > caps.cards)
    over.push(`it would have ${cards} cards, and caps.cards is ${caps.cards}`);
  if (over.length === 0) return undefined;
  return notSent(
    'guarded',
    `the plan of ${fleet} is beyond its caps: ${over.join('; ')}. Nothing was sent; raise caps in the file, when that is meant`,
    { reason: 'fleet_caps' },
  );
}

/** Throws `insufficient_funds` where the wallet and what comes back do not cover the plan and the reserve. */
export function refuseLowWallet({ totals, caps }: PlanDocument, identity: Pick<Identity, 'mode'>): void {
  const after = toCents(totals.wallet_after);
  const reserve = toCents(caps.wallet_reserve);
  if (totals.spend === 0 || after >= reserve) return;
  const short = (reserve - after) as Cents;
  const kept = reserve === 0 ? '' : `, and ${dollars(reserve)} must stay (wallet_reserve)`;
  const returns = totals.returns === 0 ? '' : ` and ${money(totals.returns)} comes back`;
  throw new CliError('insufficient_funds', {
    message: `the wallet is too low: ${money(totals.spend)} asked, ${money(totals.wallet)} there${returns}${kept}; ${dollars(short)} short. Nothing was sent`,
    ...fillingWallet(identity, short),
    outcome: 'not_sent',
  });
}

/** Cards that are read one by one where the list shows no metadata. */
const MOST_SINGLE_READS = 200;
const AT_ONCE = 8;

/**
 * `witness`: ids of an earlier plan's; `marked`: cards that were made with a marker. `showsMarkers` is false where a card of the
 * fleet could not be told from another. Throws `contract_mismatch` for a list that may be incomplete, for a card not seen would be
 * made a second time, and for balances that are no amounts. Reads alone.
 */
async function readAccount(
  ctx: Context,
  fleet: Fleet,
  { witness, marked }: { readonly witness: readonly string[] | undefined; readonly marked: ReadonlySet<string> },
) {
  const [{ data: bins }, wallet] = await Promise.all([ctx.api.read('bins.list', {}), ctx.api.read('wallet.get', {})]);
  const isBare = ({ id, metadata }: ListedCard) =>
    metadata === undefined || (marked.has(id) && metadata?.[MARKER_KEY] === undefined);
  const { progress } = ctx.ui;
  // Always the whole list: between two filters a card can change its state and be in neither.
  const list = {
    reader: await ctx.api.reader(),
    operation: 'cards.list',
    input: { per_page: 100 },
    because: TWICE,
  } as const;
  const added = (cards: AccountCards, card: ListedCard) => {
    if (!cards.add(card)) throw notSent('contract_mismatch', `the balance of ${card.id} is not an amount`);
  };
  const { cards, bare } = await fromWholeList(list, async pages => {
    const read = { cards: new AccountCards(fleet, witness), bare: [] as ListedCard[] };
    const take = (card: ListedCard) => void (isBare(card) ? read.bare.push(card) : added(read.cards, card));
    const recent = await recentCards(ctx);
    for await (const list of pagesWithProgress(pages, { noun: 'card', progress })) {
      for (const card of await recent.asTheyAre(list.data)) take(card);
    }
    for (const card of await recent.notListed()) take(card);
    return read;
  });
  if (bare.length > MOST_SINGLE_READS) {
    const many = `it shows no metadata, and ${bare.length} cards are too many to read one by one`;
    throw incompleteList('cards.list', `${many}. ${TWICE}`);
  }
  let showsMarkers = true;
  for (const { id } of bare) {
    const card = await ctx.api.read('cards.get', { card_id: id });
    if (isBare(card)) showsMarkers = false;
    added(cards, card);
  }
  const now = await ctx.api.askServiceTime();
  const observed = bins.map(bin => ({
    id: bin.id,
    maxMonthly: centsOf(bin.max_monthly ?? Number.NaN),
    maxTransaction: centsOf(bin.max_transaction ?? Number.NaN),
    features: new Set(BIN_NEEDS.filter(need => bin[need] === true)),
  }));
  const account = cards.account({ bins: observed, wallet: toCents(wallet.balance), now });
  return { account, bins, showsMarkers, cards };
}

const TWICE = 'A card that is not seen would be made a second time';

/** The records of each card, read for those few that something depends on. */
async function readRecords(ctx: Context, ids: readonly string[], now: number): Promise<Map<string, CardRecords>> {
  const records = new Map<string, CardRecords>();
  const left = [...ids];
  const worker = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) records.set(id, await recordsOf(ctx, id, now));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, worker));
  return records;
}

async function recordsOf(ctx: Context, id: string, now: number): Promise<CardRecords> {
  const activities = new Activities(now);
  let newest: { readonly id: string; readonly at: number } | undefined;
  let [held, lastUse] = [0, Number.NEGATIVE_INFINITY];
  const pages = (await ctx.api.reader()).pages('transactions.list', { card_id: id });
  for await (const { data } of pages) {
    for (const record of data) {
      const { at_ms: at, ...values } = recordValues(record);
      const when = at ?? 0;
      const row = { ...values, tx_id: record.id, at_ms: when };
      activities.add({ ...row, card_id: id });
      held += effectOf(row).pending;
      if (row.type !== 'decline') lastUse = Math.max(lastUse, when);
      if (newest === undefined || when > newest.at || (when === newest.at && record.id > newest.id)) {
        newest = { id: record.id, at: when };
      }
    }
  }
  return {
    newest: newest?.id ?? '',
    usedThisMonth: cents(activities.monthUsed(id)),
    holdsOpen: held > 0,
    lastUse: lastUse === Number.NEGATIVE_INFINITY ? undefined : lastUse,
  };
}

/** Reads the journal alone. `origin` is the base address; `made` holds the cards that applies have made, each with a marker where the service keeps it. */
async function readFleetJournal(ctx: Context, origin: string) {
  const journal = await ctx.journal.open();
  const { profile } = await ctx.api.identity();
  const unknown: JournalChange[] = [];
  const made = new Set<string>();
  for (const { op, command, state, profile: of } of await journal.list()) {
    const isUnknown = state === 'unknown' && of === profile;
    if (!isUnknown && command !== 'fleet apply') continue;
    const { changes, origin: at } = await journal.show(op);
    if (at !== origin) continue;
    for (const change of changes) {
      if (isUnknown && rowState(change) === 'unknown') unknown.push(change);
      const { operation, card, state: is } = change;
      if (command === 'fleet apply' && operation === 'cards.create' && is === 'done' && card !== undefined) {
        made.add(card);
      }
    }
  }
  return { unknown, made };
}

/** Each name once, with the operation that would settle it: found by the card of a row, or by the key of a create. */
function lockedNames(unknown: readonly JournalChange[], { matched, left }: Match, scope: Scope): readonly Locked[] {
  const names = new Map<string, string>();
  for (const { wish, present, predecessors, highest } of matched) {
    names.set(createChain(scope, wish.name, highest + 1), wish.name);
    for (const card of [...(present === undefined ? [] : [present]), ...predecessors]) names.set(card.id, wish.name);
  }
  for (const card of left) if (card.mark !== undefined) names.set(card.id, card.mark.name);
  const locked = new Map<string, string>();
  for (const { card, key, op } of unknown) {
    const name = names.get(card ?? '') ?? names.get(key?.split('.')[0] ?? '');
    if (name !== undefined) locked.set(name, op);
  }
  return [...locked].map(([name, op]) => ({ name, op })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
