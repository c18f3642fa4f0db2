/** A terminated card whose balance does not come back to the wallet. */
import { describe, expect, it } from 'vitest';
import type { Script } from '../support/scripted-service.ts';
import { scriptedWorld } from '../support/scripted-world.ts';

const TERMINATE = 'cards terminate card_old --yes';

describe('a service that terminates a card', () => {
  it.each<[string, number, string]>([
    ['and credits nothing', -10_000, 'note: the card held $100.00, and the wallet still holds $1,000.00.'],
    ['and credits a part', -4000, 'note: the card held $100.00, and the wallet went from $1,000.00 to $1,060.00.'],
  ])('%s: 0, and a note', async (_name, less, note) => {
    await using world = await scriptedWorld();
    const { service } = world;
    service.script = write => {
      const answer = write.execute();
      service.wallet += less;
      return answer;
    };
    const { code, err } = await world.run(TERMINATE);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(note) });
  });

  it('and credits the balance, or had none to credit: no note', async () => {
    await using world = await scriptedWorld();
    expect(await world.run(TERMINATE)).toMatchObject({ code: 0, err: expect.not.stringContaining('wallet') });
    const empty = { id: 'card_empty', bin_id: 'bin_1', status: 'active', cents: 0, label: '', metadata: {} };
    world.service.cards.set('card_empty', { ...empty, created_at: undefined });
    const spent: Script = write => {
      world.service.wallet -= 500;
      return write.execute();
    };
    world.service.script = spent;
    const { code, err } = await world.run('cards terminate card_empty --yes');
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('wallet') });
  });

  it('and does not tell its wallet: 0, and no note', async () => {
    await using world = await scriptedWorld();
    world.service.reads = path => (path === '/wallet' ? { status: 404, body: { error: 'not_found' } } : undefined);
    expect(await world.run(TERMINATE)).toMatchObject({ code: 0, err: expect.not.stringContaining('wallet') });
  });
});
