/** Every answer of answers.ts to every operation: no write is done by it, none is sent again that must not be. */
import { afterEach, expect, test } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { CliError } from '../../src/core/errors.ts';
import { cents } from '../../src/core/money.ts';
import { rows } from './answers.ts';
import { type Served, serve, speak } from './served.ts';

/** Whatever an operation may need; it takes what its row knows. */
const VALUES: Readonly<Record<string, unknown>> = {
  card_id: 'card_1',
  bin_id: 'bin_1',
  webhook_id: 'wh_1',
  amount: cents(500),
  url: 'https://a.example',
  events: ['card.created'],
};

/** Exit codes of answers that mean something else to one operation than to the others. */
const EXCEPTIONS: Readonly<Record<string, number>> = {
  // A bare list is a list.
  'bins.list: 200 array': 0,
  'cards.list: 200 array': 0,
  // The card's own balance is too low, not the wallet's.
  'cards.withdraw: 400 insufficient_funds': 6,
  'cards.withdraw: 422 insufficient_funds': 6,
  'webhooks.delete: 200 empty': 0,
  // It says that the card is in the wanted state, and no reading shows it.
  'cards.terminate: 404 card_terminated': 11,
};

/** Words of the contract; an operation that cannot give one has not been refused by it. */
const WORDS: Readonly<Record<string, string>> = {
  '400 insufficient_funds': 'insufficient_funds',
  '422 insufficient_funds': 'insufficient_funds',
  '404 not_found': 'not_found',
  '404 card_terminated': 'card_terminated',
  '409 state': 'card_expired',
};

function isForeign({ fails = [] }: Operation, answer: string): boolean {
  const word = WORDS[answer];
  return word !== undefined && !(fails as readonly string[]).includes(word);
}

function inputOf({ params, query, body }: Operation): never {
  const names = Object.keys({ ...params, ...query, ...body });
  return Object.fromEntries(Object.entries(VALUES).filter(([name]) => names.includes(name))) as never;
}

let served: Served;
afterEach(() => served?.close());

test.each(Object.entries(OPERATIONS) as [keyof typeof OPERATIONS, Operation][])('%s', async (name, row) => {
  const isRead = row.effect === 'read' || row.effect === 'reveals-secret';
  const found: unknown[] = [];
  for (const { name: answer, answer: handler, read, write, writes = 1 } of rows) {
    served = await serve((seen, response, request) => {
      // What a write is confirmed by does not answer.
      if (isRead || seen.method !== 'GET') handler(seen, response, request);
      else response.destroy();
    });
    const { service } = speak(served.baseUrl);
    const ended = await service.send(name as 'cards.fund', inputOf(row)).catch((thrown: unknown) => thrown);
    const code = ended instanceof CliError ? ended.exitCode : 0;
    const outcome = ended instanceof CliError ? ended.facts.outcome : 'done';
    const sent = served.seen.filter(({ method }) => method !== 'GET').length;
    const usual = isRead ? read : isForeign(row, answer) ? 11 : write;
    const expected = EXCEPTIONS[`${name}: ${answer}`] ?? usual;
    // What may be repeated freely is sent again where nothing at all is known of it.
    const often = row.repeat === 'freely' && write === 11 ? [1, 3] : [writes];
    const wrong = isRead ? code !== expected : code !== expected || !often.includes(sent);
    if (wrong || (!isRead && (code === 11) !== (outcome === 'unknown')))
      found.push({ answer, code, outcome, sent, expected });
    await service.close();
    await served.close();
  }
  expect(found).toEqual([]);
});
