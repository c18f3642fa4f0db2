/**
 * A change whose outcome is unknown, and the same command again: refused, whatever command and operation it is. The tables
 * name every operation that changes something, and every command that moves money: a new one is put in, or does not pass.
 */
import { afterAll, expect, test } from 'vitest';
import { type Command, commandsOf } from '../../src/cli/parsing/declaration.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import type { WriteName } from '../../src/contract/calls.ts';
import { CALLS } from '../../src/contract/calls.ts';
import type { WriteOperation } from '../support/card-books.ts';
import { arena } from './arena.ts';

interface Typed {
  readonly line: string;
  readonly stdin?: string;
  /** Whose answer is lost. */
  readonly lost: WriteOperation;
}

const FILE = (operation: string, columns: string, row: string): Typed => ({
  line: `cards ${operation} --file -`,
  stdin: `${columns}\n${row}\n`,
  lost: operation as WriteOperation,
});

/** By operation: the ways to it, or why the same command again does no harm. */
const OPERATIONS = {
  'cards.create': [
    { line: 'cards create --bin bin_1 --amount 25', lost: 'create' },
    { line: 'cards create --bin auto --amount 25', lost: 'create' },
    { line: 'cards create --bin bin_1 --amount 25 --no-marker', lost: 'create' },
    { line: 'cards lease --bin bin_1 --amount 25 --reveal -- true', lost: 'create' },
    { line: 'cards lease --amount 25 --reveal -- true', lost: 'create' },
    { line: 'api POST /cards -f bin_id=bin_1 -F amount:=25', lost: 'create' },
    FILE('create', 'bin_id,amount', 'bin_1,25'),
    FILE('create', 'bin_id,amount', 'auto,25'),
  ],
  'cards.fund': [
    { line: 'cards fund card_1 --amount 25', lost: 'fund' },
    { line: 'api POST /cards/card_1/fund -F amount:=25', lost: 'fund' },
    FILE('fund', 'card_id,amount', 'card_1,25'),
  ],
  'cards.withdraw': [
    { line: 'cards withdraw card_1 --amount 25', lost: 'withdraw' },
    { line: 'api POST /cards/card_1/withdraw -F amount:=25', lost: 'withdraw' },
    FILE('withdraw', 'card_id,amount', 'card_1,25'),
  ],
  'api.write': [{ line: 'api DELETE /cards/card_1', lost: 'terminate' }],
  'cards.terminate': 'twice is once',
  'cards.freeze': 'twice is once',
  'cards.unfreeze': 'twice is once',
  'webhooks.create': 'no money; its answer holds a secret, which no journal keeps',
  'webhooks.update': 'twice is once',
  'webhooks.delete': 'twice is once',
} as const satisfies Readonly<Record<WriteName, readonly Typed[] | string>>;

const TYPED = Object.values(OPERATIONS).flatMap(ways => (typeof ways === 'string' ? [] : (ways as readonly Typed[])));

/** Commands that move money otherwise, and the tests that hold them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'fleet apply': 'test/fleet',
  'policy apply': 'a run of rows as of cards withdraw --file',
  'ops resume': 'goes on with what was begun',
  mcp: 'test/mcp: its tools run these commands',
};

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

test('every operation that changes something is in the table', () => {
  const writes = Object.entries(CALLS).filter(([, { effect }]) => effect !== 'read' && effect !== 'reveals-secret');
  expect(writes.map(([name]) => name).sort()).toEqual(Object.keys(OPERATIONS).sort());
  // What moves money, or makes a card, is nowhere harmless.
  for (const [name, row] of writes) {
    const isHarmless = typeof OPERATIONS[name as WriteName] === 'string';
    const makesCard = 'makes' in row && row.makes === 'card';
    expect([name, isHarmless && (row.effect === 'moves-money' || makesCard)]).toEqual([name, false]);
  }
});

test('every command that moves money is in one of the tables', async () => {
  const commands = (await Promise.all(REGISTRY.map(commandsOf))).flat();
  const rows: Readonly<Record<string, { readonly effect: string }>> = CALLS;
  const effectOf = ({ effect, operation }: Command) => effect ?? rows[operation ?? '']?.effect;
  const paths = commands.filter(command => effectOf(command) === 'moves-money').map(({ path }) => path);
  expect(Object.keys(ELSEWHERE).filter(path => !paths.includes(path))).toEqual([]);
  const missing = paths.filter(path => !(path in ELSEWHERE) && !TYPED.some(({ line }) => line.startsWith(`${path} `)));
  expect(missing).toEqual([]);
});

/** Of what nothing but its answer could be looked at. */
const isUntraced = ({ line, lost }: Typed) => lost === 'create' || line.startsWith('api DELETE ');

test.each(TYPED)('$line: unknown, and the same command again is refused', async typed => {
  const { line, stdin, lost } = typed;
  await using place = await here.enter('unknown', 'test');
  const cards = [{ cents: 10_000, label: 'old' }];
  here.service.reset({ [place.key]: { metadata: 'nowhere', cards } });
  const plays = [{ effect: 'done', answer: { lost: 'before-headers' } }] as const;
  here.service.script({ operation: lost, plays });
  const { code } = await place.run(line, stdin);
  // Card and wallet show a transfer; of a create nothing does here.
  expect(code).toBe(isUntraced(typed) ? 11 : 0);
  if (code === 0) return expect(here.service.books(place.key).effects).toHaveLength(1);
  const writes = () => here.service.requests.filter(({ method }) => method !== 'GET').length;
  const sent = writes();
  const again = await place.run(line, stdin);
  expect({ code: again.code, sent: writes() - sent, effects: here.service.books(place.key).effects.length }).toEqual({
    code: 14,
    sent: 0,
    effects: 1,
  });
  expect(again.err).toContain('cardwright ops resume op_');
});
