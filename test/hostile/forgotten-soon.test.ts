/** A key that the probe found honoured and that the service forgets within seconds: what is told, and what is sent. */
import { afterAll, describe, expect, it } from 'vitest';
import type { BookOptions, WriteOperation } from '../support/card-books.ts';
import { errorOf } from '../support/world.ts';
import { answerNamed } from './answers.ts';
import { arena, type Place } from './arena.ts';

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

const FORGETS = { keys: { forgottenAfterMs: 3_000 }, cards: [{}] } as const;
const CREATE = 'cards create --bin bin_1 --amount 25';

/** Three answers are lost, so that a command cannot settle it by itself. */
async function entered(operation: WriteOperation, answer: string, account: BookOptions = {}): Promise<Place> {
  const place = await here.enter('honoured', 'test');
  here.service.reset({ [place.key]: { ...FORGETS, ...account } });
  const { play } = answerNamed(answer);
  here.service.script({ operation, plays: [play, play, play] });
  return place;
}

const asked = (operation: WriteOperation) =>
  here.service.requests.filter(request => request.operation === operation).length;
const effects = (place: Place) => here.service.books(place.key).effects.length;

describe('a create', () => {
  it('of which nothing shows is sent again, twice at most, and then at the word of a person alone', async () => {
    await using place = await entered('create', 'lost before-headers, none');
    const { op } = errorOf(await place.run(CREATE));
    const resumed = await place.run(`ops resume ${op}`);
    expect([resumed.code, effects(place), asked('create')]).toEqual([11, 0, 3]);
    expect(errorOf(resumed).hint).toBe(`cardwright ops resume ${op} --resend-absent`);
    const from = here.clock.monotonic();
    expect([(await place.run(`ops resume ${op} --resend-absent`)).code, effects(place)]).toEqual([0, 1]);
    // Nothing of the earlier ones can be on its way any more.
    expect((here.clock.monotonic() - from) / 1_000).toBeGreaterThan(120);
  });

  // A key that was proved and is forgotten within seconds, with an effect 31 s after its request: no promise covers that it is made
  // once. Promised is that both cards are named where the second one shows before the end is verified.
  it('that is made twice all the same, the second one before the end is verified, is named with both cards', async () => {
    await using place = await here.enter('honoured', 'test', { ...FORGETS, behind: { walletMs: 3_600_000 } });
    const late = { effect: { afterMs: 31_000 }, answer: { lost: 'before-headers' } } as const;
    const { play } = answerNamed('lost before-headers, none');
    here.service.script({ operation: 'create', plays: [late, play] });
    const named = `${CREATE} --intent chairs`;
    // Whoever asks again under the intent is told the same.
    for (const made of [await place.run(named), await place.run(named)]) {
      expect([made.code, effects(place)]).toEqual([15, 2]);
      expect(errorOf(made).evidence['objections']).toContainEqual(
        expect.stringMatching(/^2 cards carry the marker of row 1 .*: card_2, card_3$/),
      );
    }
  });
});

describe('what somebody does next', () => {
  it('is told as a command that only looks, and behind it one that sends', async () => {
    await using place = await entered('create', 'lost before-headers, none');
    const { hint, evidence } = errorOf(await place.run(CREATE));
    const sent = asked('create');
    await place.run(String(evidence['look']).replace('cardwright ', ''));
    const looked = errorOf(await place.run(hint.replace('cardwright ', '')));
    expect(asked('create') - sent).toBe(0);
    await place.run(looked.hint.replace('cardwright ', ''));
    expect(asked('create') - sent).toBe(1);
  });
});
