/** Freezing, unfreezing and terminating cards. */

import { DONE_IDS, RunTally } from '../../cli/bulk/results.ts';
import type { Context, Shown } from '../../cli/context.ts';
import { columnsOf, rowsListing, SHORT_ID } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { type Answers, maybe, tells } from '../../cli/parsing/flag.ts';
import type { Result } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import type { ValueOf } from '../../contract/field.ts';
import type { Reader } from '../../contract/service.ts';
import { asCliError, CliError, DryRun, ERROR_KINDS, type ErrorKind, notSent } from '../../core/errors.ts';
import { cents, dollars, toCents } from '../../core/money.ts';
import { lineBlock } from '../../terminal/view.ts';
import { FREEZING_ASKS } from '../../writes/guard.ts';
import { CARD_COLUMNS, cardName, cards, money } from './cards.ts';
import { doneText, NAME_FLAGS, nameOf, withIntent } from './create.ts';

type StateOperation = 'cards.freeze' | 'cards.unfreeze' | 'cards.terminate';
type Card = Result<'cards.freeze'>;

const ATTEMPT_ROW = {
  card_id: tells.text('The card.'),
  outcome: tells.word('The outcome.', ['done', 'refused', 'unknown', 'not_sent']),
  changed: maybe(tells.yes('False if there was nothing to change.')),
  status: maybe(tells.text('Its status now.')),
  error: maybe(tells.text('Why it was not done.')),
  request_id: maybe(tells.text('Identifier of the request, for support.')),
} as const;

type Attempt = ValueOf<typeof ATTEMPT_ROW>;

const ATTEMPT_COLUMNS = columnsOf(ATTEMPT_ROW, 'card_id outcome changed:3 status:2 error:2 request_id:4', {
  card_id: { shortTo: SHORT_ID },
  status: { kind: 'word' },
});

/** One card with `changed`; for several a row each. */
const STATE_ANSWERS: readonly Answers[] = [
  { one: { ...CARD, changed: tells.yes('False if the card was already in this state.') } },
  { list: ATTEMPT_ROW },
];

/** Kinds after which the other cards would fare no better, or nothing may be sent any more. */
const STOPPING: readonly ErrorKind[] = [
  'not_authenticated',
  'guarded',
  'interrupted',
  'terminated',
  'internal',
  'not_confirmed',
];

/** Runs `act` for each id in turn. A refused card does not keep the others from being tried; what stopped the run does. */
async function forEachCard(
  ctx: Context,
  ids: readonly string[],
  act: (id: string) => Promise<{ readonly changed: boolean; readonly result: Card }>,
) {
  const attempts: Attempt[] = [];
  const tally = new RunTally({ total: ids.length, single: false });
  let stopped: CliError | undefined;
  for (const [at, id] of ids.entries()) {
    try {
      const { changed, result } = await act(id);
      attempts.push({ card_id: id, outcome: 'done', changed, status: result.status });
      tally.add({ row: at + 1, outcome: 'done' });
    } catch (thrown) {
      if (ctx.dryRun && thrown instanceof DryRun) {
        if (id === ids.at(-1)) throw thrown;
        continue;
      }
      const error = asCliError(thrown);
      const { outcome = 'not_sent', service } = error.facts;
      const request = service?.request_id === undefined ? {} : { request_id: service.request_id };
      attempts.push({ card_id: id, outcome, error: service?.error ?? error.kind, ...request });
      tally.add({ row: at + 1, outcome, error: error.with({ message: `${id}: ${error.message}` }) });
      if (!STOPPING.includes(error.kind)) continue;
      stopped = error;
      break;
    }
  }
  const signal = stopped && ERROR_KINDS[stopped.kind].exit >= 130 ? stopped : undefined;
  return { attempts, failure: tally.verdict({ stopped, signal }) };
}

type Balances = Readonly<Record<'card' | 'wallet', number>>;

/** Of card and wallet just before a termination, USD. Undefined where one cannot be read: a termination does not wait for a remark. */
async function balances(reader: Reader, cardId: string): Promise<Balances | undefined> {
  const reading = Promise.all([reader.read('cards.get', { card_id: cardId }), reader.read('wallet.get', {})]);
  const [card, wallet] = (await reading.catch(unread)) ?? [];
  return card && wallet && { card: card.balance, wallet: wallet.balance };
}

/** What became of the balance: `text` where the wallet grew by it, `note` where it did not; nothing for an empty card. */
async function returnedBalance(
  reader: Reader,
  before: Balances | undefined,
): Promise<{ text?: string; note?: string }> {
  if (before === undefined || before.card === 0) return {};
  const [onCard, inWallet] = [toCents(before.card), toCents(before.wallet)];
  const wallet = await reader.read('wallet.get', {}).catch(unread);
  if (wallet === undefined) return {};
  const now = toCents(wallet.balance);
  if (now - inWallet === onCard) {
    // A purchase without an authorization may take a card below zero.
    const went = onCard > 0 ? 'went back to' : 'was taken from';
    return { text: `${dollars(cents(Math.abs(onCard)))} ${went} the wallet, which holds ${dollars(now)}.` };
  }
  const says = now === inWallet ? `still holds ${dollars(now)}` : `went from ${dollars(inWallet)} to ${dollars(now)}`;
  return {
    note: `note: the card held ${dollars(onCard)}, and the wallet ${says}. The balance may come later, and others may use the wallet: cardwright wallet`,
  };
}

/** For what is read for a remark alone: a command does not fail where it cannot be read. */
export function unread(thrown: unknown): undefined {
  if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
  return undefined;
}

/** Takes each card to the state the operation leads to. */
async function changeState(
  ctx: Context,
  operation: StateOperation,
  { cards: ids, fromInput }: { readonly cards: readonly string[]; readonly fromInput?: true },
  intentName?: string,
) {
  const verb = operation.split('.')[1] ?? operation;
  const intent = (id: string) => `${verb[0]?.toUpperCase()}${verb.slice(1)} ${id}`;
  const [only] = ids;
  const isSingle = ids.length === 1 && fromInput !== true;
  const isWatched =
    operation === 'cards.terminate' &&
    !ctx.dryRun &&
    ((isSingle && ctx.ui.forPeople) || (await ctx.api.identity()).mode !== 'sandbox');
  const watched = async (id: string, asked: object) => {
    const watch = isWatched && { before: (reader: Reader) => balances(reader, id) };
    const done = await ctx.api.write(operation, { card_id: id }, { intent: intent(id), ...asked, ...watch });
    const { text, note } = done.changed ? await returnedBalance(await ctx.api.reader(), done.before) : {};
    if (note !== undefined) ctx.ui.notice(ids.length === 1 ? note : note.replace('the card', id));
    return { ...done, returned: text };
  };
  if (isSingle && only !== undefined) {
    const { result, changed, intent: used, returned } = await watched(only, { intentName });
    return { card: result, changed, returned, used };
  }
  if (intentName !== undefined)
    throw notSent('usage', '--intent names one change, and these are several cards', {
      notes: ['In a file each row has an intent of its own: columns card_id,intent.'],
      hint: 'cardwright cards terminate --file cards.csv',
    });
  if (ids.length === 0) ctx.ui.notice('Standard input holds no ids. There is nothing to do.');
  const confirmed = ids.length > 1;
  if (confirmed) await ctx.ui.confirmCount(operation, ids);
  return forEachCard(ctx, ids, id => watched(id, { confirmed }));
}

/** The card with `changed` beside its fields; for several cards one row each. */
function showState(
  result: Awaited<ReturnType<typeof changeState>>,
  words: { readonly done: string; readonly already: string },
): Shown {
  if ('attempts' in result) {
    return {
      listing: rowsListing(result.attempts),
      noun: 'card',
      ...DONE_IDS,
      columns: ATTEMPT_COLUMNS,
      failure: result.failure,
    };
  }
  const { card, changed, used, returned } = result;
  const line = `${changed ? words.done : words.already}: ${card.id}, ${cardName(card)}, ${card.status}, ${money(card.balance)}.`;
  return {
    data: withIntent({ ...card, changed }, used),
    noun: 'card',
    columns: [...CARD_COLUMNS, { field: 'changed', title: 'CHANGED', kind: 'boolean', priority: 6, wideOnly: true }],
    blocks: [lineBlock(doneText(used, line)), ...(returned === undefined ? [] : [lineBlock(returned)])],
  };
}

export const freezeCards = command({
  path: 'cards freeze',
  summary: 'Freeze cards: decline all new transactions',
  answers: STATE_ANSWERS,
  about: [
    'A frozen card keeps its balance and can be funded; new authorizations are declined. A card that is already frozen is a success with changed: false.',
    '--idle 30d chooses cards that are older than 30 days and had no transaction since, not even a decline. --where chooses cards that meet a condition, as in cards list.',
    FREEZING_ASKS,
    'A freeze of ids never asks the database of a shared journal.',
  ],
  operation: 'cards.freeze',
  bulk: {},
  args: { cards },
  examples: {
    'Freeze one card': 'cards freeze card_1',
    'Two at once, a row each': 'cards freeze card_1 card_2',
    'Every card without a transaction for 30 days': 'cards freeze --idle 30d --yes',
  },
  run: (ctx, named) => changeState(ctx, 'cards.freeze', named),
  show: result => showState(result, { done: 'Frozen', already: 'Frozen already' }),
});

export const unfreezeCards = command({
  path: 'cards unfreeze',
  summary: 'Unfreeze cards, so that they can be used again',
  answers: STATE_ANSWERS,
  about:
    'A card that is already active is a success with changed: false. --where chooses frozen cards that meet a condition, as in cards list.',
  operation: 'cards.unfreeze',
  bulk: {},
  args: { cards },
  examples: { 'Unfreeze one card': 'cards unfreeze card_1' },
  run: (ctx, named) => changeState(ctx, 'cards.unfreeze', named),
  show: result => showState(result, { done: 'Active again', already: 'Active already' }),
});

export const terminateCards = command({
  path: 'cards terminate',
  summary: 'Terminate cards for good; their balance returns to the wallet',
  answers: STATE_ANSWERS,
  about: [
    'Asks for the last four digits of the card. For several cards it asks how many they are. --yes skips the question. A card that is already terminated is a success with changed: false.',
    'Outside the sandbox, for cards named as arguments, the wallet is read before and after each. If it did not grow by the balance of the card, a note says so.',
    '--where chooses cards that meet a condition, as in cards list. --idle 90d chooses cards without a transaction for 90 days.',
  ],
  operation: 'cards.terminate',
  bulk: {},
  args: { cards },
  flags: { intent: NAME_FLAGS.intent },
  examples: {
    'End one card, asked for by its last four digits': 'cards terminate card_1',
    'In a script': 'cards terminate card_1 --yes',
    'Every card of one campaign': "cards terminate --where 'label~ads' --yes",
  },
  run: (ctx, input) => changeState(ctx, 'cards.terminate', input, nameOf(input).intentName),
  show: result => showState(result, { done: 'Terminated', already: 'Terminated already' }),
});
