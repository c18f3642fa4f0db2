/** A key that the probe found honoured and that the service forgets within seconds: what is told, and what is sent. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { AccountOptions, WriteOperation } from '../support/hostile-service.ts';
import { answerNamed } from './answers.ts';
import { type Arena, arena, type Place } from './arena.ts';
import { FEW_FORGOTTEN_CELLS } from './forgotten-cells.ts';
import { playTable } from './table.ts';

let here: Arena;
beforeAll(async () => {
  here = await arena();
});
afterAll(() => here[Symbol.asyncDispose]());

const FORGETS = { keys: { forgottenAfterMs: 3_000 }, cards: [{}] } as const;
const CREATE = 'cards create --bin bin_1 --amount 25';
const FUND = 'cards fund card_1 --amount 25';

/** Three answers are lost, so that a command cannot settle it by itself. */
async function entered(operation: WriteOperation, answer: string, account: AccountOptions = {}): Promise<Place> {
  const place = await here.enter('honoured', 'test');
  here.service.reset({ [place.key]: { ...FORGETS, ...account } });
  const { play } = answerNamed(answer);
  here.service.script({ operation, plays: [play, play, play] });
  return place;
}

const asked = (operation: WriteOperation) =>
  here.service.requests.filter(request => request.operation === operation).length;
const effects = (place: Place) => here.service.books(place.key).effects.length;

interface Told {
  readonly op: string;
  readonly message: string;
  readonly hint: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

function errorIn(err: string): Told {
  return (JSON.parse(err.trim().split('\n').at(-1) ?? '') as { error: Told }).error;
}

describe('a create', () => {
  it('of which nothing shows is sent again, and the end of the resume looks for a second card', async () => {
    await using place = await entered('create', 'lost before-headers, none');
    const { op } = errorIn((await place.run(CREATE)).err);
    const from = here.clock.monotonic();
    const resumed = await place.run(`ops resume ${op}`);
    expect([resumed.code, effects(place)]).toEqual([0, 1]);
    // Readings are waited for before it is sent and behind it, and never longer than they may be behind.
    const seconds = (here.clock.monotonic() - from) / 1_000;
    expect([seconds > 7.75, seconds < 20]).toEqual([true, true]);
  });

  it('that is listed late is waited for, and found', async () => {
    await using place = await entered('create', 'lost before-headers, done', { behind: { listMs: 5_500 } });
    expect([(await place.run(CREATE)).code, effects(place), asked('create')]).toEqual([0, 1, 1]);
  });

  it('is not sent again by the same command either, once its key is older than what was proved', async () => {
    await using place = await here.enter('honoured', 'test');
    here.service.reset({ [place.key]: { ...FORGETS, behind: { listMs: 8_000, walletMs: 8_000 } } });
    here.service.script({ operation: 'create', plays: [answerNamed('lost before-headers, done').play] });
    here.clock.doze(5_000);
    const { code } = await place.run(CREATE);
    expect([code, effects(place), asked('create')]).toEqual([0, 1, 1]);
  });

  it('that is never listed is not sent again, for the wallet has paid for it', async () => {
    await using place = await entered('create', 'lost before-headers, done', { behind: { listMs: 3_600_000 } });
    const { op, evidence } = errorIn((await place.run(CREATE)).err);
    expect(evidence).toMatchObject({
      verdict: 'probably done',
      checked: expect.stringMatching(/: none, wallet \$1,000\.00 -> \$975\.00$/),
    });
    const sent = asked('create');
    const looked = await place.run(`ops resume ${op} --dry-run`);
    expect([looked.code, looked.out]).toEqual([11, expect.stringContaining('"next": "decide"')]);
    const resumed = await place.run(`ops resume ${op}`);
    expect([resumed.code, effects(place), asked('create') - sent]).toEqual([11, 1, 0]);
    expect(errorIn(resumed.err).hint).toBe(`cardwright ops show ${op}`);
  });

  it('that is made twice all the same is named with both cards', async () => {
    // The first one is done when nobody looks any more, and the wallet does not tell of it at once.
    await using place = await here.enter('honoured', 'test');
    here.service.reset({ [place.key]: { ...FORGETS, behind: { walletMs: 9_000 } } });
    const late = { effect: { afterMs: 40_000 }, answer: { lost: 'before-headers' } } as const;
    const { play } = answerNamed('lost before-headers, none');
    here.service.script({ operation: 'create', plays: [late, play, play] });
    const { op } = errorIn((await place.run(CREATE)).err);
    const resumed = await place.run(`ops resume ${op}`);
    expect([resumed.code, effects(place)]).toEqual([15, 2]);
    expect(errorIn(resumed.err).evidence['objections']).toContainEqual(
      expect.stringMatching(/^2 cards carry the marker of row 1 .*: card_2, card_3$/),
    );
  });
});

describe('a fund', () => {
  it('says that it was sent again, and what has moved', async () => {
    await using place = await entered('fund', 'lost before-headers, done', {
      behind: { cardMs: 60_000, walletMs: 60_000 },
    });
    const first = errorIn((await place.run(FUND)).err);
    expect(first.evidence).toMatchObject({ verdict: 'no trace yet', checks: 1 });
    here.clock.pass(3_200);
    const resumed = await place.run(`ops resume ${first.op}`);
    expect([resumed.code, asked('fund')]).toEqual([11, 5]);
    const again = errorIn(resumed.err);
    expect(again.message).toMatch(
      /^cards\.fund was sent at \S+, and again at \S+ under the same key, but no trustworthy/,
    );
    expect(again.evidence).toMatchObject({ verdict: 'no trace yet' });
    here.clock.pass(60_000);
    const moved = errorIn((await place.run(`ops resume ${first.op} --dry-run`)).err);
    expect(moved.evidence).toMatchObject({
      verdict: 'cannot be determined',
      checked: 'card card_1 $100.00 -> $225.00, wallet $1,000.00 -> $875.00',
    });
  });
});

describe('what somebody does next', () => {
  it.each(['--intent order-7', '--idempotency-key order-7'])('%s: the same command again finds it', async name => {
    await using place = await entered('create', 'lost before-headers, done', { behind: { listMs: 5_500 } });
    for (const _ of ['first', 'again']) expect((await place.run(`${CREATE} ${name}`)).code).toBe(0);
    expect(effects(place)).toBe(1);
  });

  it('is told as two commands: one that only looks, and one that may send', async () => {
    await using place = await entered('create', 'lost before-headers, none');
    const { hint, evidence } = errorIn((await place.run(CREATE)).err);
    const sent = asked('create');
    await place.run(String(evidence['look']).replace('cardwright ', ''));
    expect(asked('create') - sent).toBe(0);
    await place.run(hint.replace('cardwright ', ''));
    expect(asked('create') - sent).toBe(1);
  });
});

/** So far behind that no look shows what was done: what is sent again is done again. */
const NEVER_SHOWN = { listMs: 3_600_000, newMs: 3_600_000, cardMs: 3_600_000, walletMs: 3_600_000 } as const;

test('a second effect is found out, on each road', async () => {
  const blind = FEW_FORGOTTEN_CELLS.filter(({ goingOn }) => goingOn !== 'same command').map(
    cell => ({ ...cell, behind: NEVER_SHOWN }) as const,
  );
  const { wrong } = await playTable(here, blind, { isThorough: false });
  const twice = wrong.filter(({ wrong: said }) => said.some(text => /has [2-9] effects/.test(text)));
  expect(new Set(twice.map(({ cell }) => `${cell.operation} ${cell.road}`))).toEqual(
    new Set(['create single', 'create lease', 'fund single', 'withdraw single']),
  );
});
