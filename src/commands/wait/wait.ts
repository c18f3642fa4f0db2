/** Waiting until a card, the wallet or a transaction meets a condition. */

import { allOf, CONDITION_VALUES, CONDITIONS, fieldsIn, NEEDED_CONDITIONS } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Item } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import type { Shape } from '../../contract/field.ts';
import { TRANSACTION, WALLET } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { durationText } from '../../terminal/times.ts';
import type { Row } from '../../terminal/view.ts';
import { CARD_COLUMNS, card, cardPage } from '../cards/cards.ts';
import { TRANSACTION_COLUMNS } from '../tx/transactions.ts';
import { showsWallet } from '../wallet/wallet.ts';
import { awaited, USUAL_WAIT, WAIT_TIMEOUT } from './flags.ts';

interface Until<T> {
  /** `card_1`, `the wallet`. */
  readonly name: string;
  /** Conditions that must all hold. */
  readonly until: readonly string[];
  readonly shape: Shape;
  readonly waitTimeout: number | undefined;
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** Nothing of it can change any more. */
  readonly isFinal?: (record: T) => boolean;
}

/** The record once it is as asked for. Throws `wait_expired` with the value it had last. */
async function recordUntil<T extends object>(ctx: Context, asked: Until<T>): Promise<T> {
  const { shape, until, waitTimeout: timeoutMs = USUAL_WAIT } = asked;
  const test = allOf(until, { shape, flag: '--until', now: () => ctx.api.serviceNow() });
  let last: T | undefined;
  let isFinal = false;
  const look = async (signal: AbortSignal) => {
    last = await asked.read(signal);
    isFinal = asked.isFinal?.(last) === true;
    const isSo = test(last as Row);
    return isSo || isFinal ? { record: last, isSo } : undefined;
  };
  const found = await awaited(ctx, timeoutMs, look);
  if (found?.isSo) return found.record;
  const values = fieldsIn(until).map(field => {
    const value = field.split('.').reduce<unknown>((at, name) => (at as Row | null | undefined)?.[name], last);
    return `${field} ${value === undefined ? 'not there' : JSON.stringify(value)}`;
  });
  const when = isFinal ? 'and can no longer become so' : `within ${durationText(timeoutMs)}`;
  const message = `${asked.name} did not become ${until.join(' and ')} ${when}`;
  throw expired(message, `Last seen: ${values.join(', ')}.`, last, timeoutMs);
}

/** `last` is what was seen last. */
function expired(message: string, note: string, last: object | undefined, timeoutMs: number): CliError {
  const evidence = { last: last ?? null, wait_timeout_ms: timeoutMs };
  return new CliError('wait_expired', { message, notes: [note], evidence });
}

/** What a wait for one thing declares. */
const UNTIL = {
  about: [
    'Asks at once and then at most once a second. If the condition is not met in time, that is exit 8 with the last value.',
    CONDITION_VALUES,
  ],
  ends: { wait_expired: 'It did not become so within --wait-timeout.' },
  flags: { until: NEEDED_CONDITIONS, waitTimeout: WAIT_TIMEOUT },
} as const;

export const waitCard = command({
  path: 'wait card',
  summary: 'Wait until a card meets a condition',
  operation: 'cards.get',
  args: { card },
  ...UNTIL,
  examples: {
    'Until it may be used again': "wait card card_1 --until 'status=active'",
    'Until little is left': "wait card card_1 --until 'balance<500' --wait-timeout 10m",
  },
  run: (ctx, { card: id, until, waitTimeout }) =>
    recordUntil(ctx, {
      name: id,
      until,
      waitTimeout,
      shape: CARD,
      read: signal => ctx.api.read('cards.get', { card_id: id }, { signal }),
      isFinal: ({ status }) => status === 'terminated',
    }),
  noun: 'card',
  columns: CARD_COLUMNS,
  show: cardPage,
});

export const waitWallet = command({
  path: 'wait wallet',
  summary: 'Wait until the wallet meets a condition',
  operation: 'wallet.get',
  ...UNTIL,
  examples: {
    'Until a deposit has arrived': "wait wallet --until 'balance>=500' --wait-timeout 1h",
    'Nothing is on its way': "wait wallet --until 'pending_deposits=0'",
  },
  run: (ctx, { until, waitTimeout }) =>
    recordUntil(ctx, {
      name: 'the wallet',
      until,
      waitTimeout,
      shape: WALLET,
      read: signal => ctx.api.read('wallet.get', {}, { signal }),
    }),
  show: showsWallet,
});

type Transaction = Item<'transactions.list'>;

export const waitTransaction = command({
  path: 'wait tx',
  summary: 'Wait for a transaction that meets a condition',
  answers: { one: TRANSACTION },
  about: [
    'Takes the newest that matches, even if it was there before; --since now takes only a new one. Reads the newest page at once and then at most once a second. If none comes in time, that is exit 8.',
    CONDITION_VALUES,
  ],
  operation: 'transactions.list',
  ends: { wait_expired: 'No such transaction came within --wait-timeout.' },
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    since: 'query.from',
    until: CONDITIONS,
    waitTimeout: WAIT_TIMEOUT,
  },
  examples: {
    'A settlement': 'wait tx --card card_1 --type settlement --wait-timeout 5m',
    'A new decline of $59': "wait tx --type decline --since now --until 'amount=59'",
  },
  async run(ctx, { card, type, since, until, waitTimeout: timeoutMs = USUAL_WAIT }) {
    const now = () => ctx.api.serviceNow();
    const test = allOf(until ?? [], { shape: TRANSACTION, flag: '--until', now });
    const reader = await ctx.api.reader();
    let newest: Transaction | undefined;
    const look = async (signal: AbortSignal) => {
      for await (const { data } of reader.pages(
        'transactions.list',
        { card_id: card, type, from: since },
        { signal },
      )) {
        newest = data[0];
        return data.find(row => test(row as Row));
      }
      return undefined;
    };
    const found = await awaited(ctx, timeoutMs, look);
    if (found !== undefined) return found;
    const wanted = [type ?? 'transaction', card && `of ${card}`, until && `with ${until.join(' and ')}`]
      .filter(Boolean)
      .join(' ');
    const says =
      newest === undefined
        ? 'There was none of this kind.'
        : `The newest is ${newest.id}, ${newest.type} ${newest.status ?? ''}.`;
    throw expired(`no ${wanted} came within ${durationText(timeoutMs)}`, says, newest, timeoutMs);
  },
  noun: 'transaction',
  columns: TRANSACTION_COLUMNS,
});
