/** What the wallet denies is not called done, and a wallet that does not hold dollars is spent by no command. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';

test('a create that a proxy posts twice: 15, and both cards are named', async () => {
  await using s = await scriptedWorld();
  s.service.script = execute => {
    execute();
    return execute();
  };
  const { code, err } = await s.run('cards create --bin bin_1 --amount 25 --yes');
  const made = [...s.service.books.cards.keys()].filter(id => id !== 'card_old');
  expect({ code, made: made.length }).toEqual({ code: 15, made: 2 });
  for (const id of made) expect(err).toContain(id);
});
describe('a wallet in euros', () => {
  async function inEuros(): Promise<ScriptedWorld> {
    const s = await scriptedWorld();
    s.service.reads = path =>
      path === '/wallet' ? { status: 200, body: { balance: 900, currency: 'EUR' } } : undefined;
    await writeFile(join(s.here.folder, 'new.csv'), 'bin_id,amount\nbin_1,25\n');
    await writeFile(join(s.here.folder, 'funds.csv'), 'card_id,amount\ncard_old,25\n');
    return s;
  }

  test('no command spends it: 13, and nothing is sent', async () => {
    await using s = await inEuros();
    for (const line of [
      'cards create --bin bin_1 --amount 25 --yes',
      'cards create --file new.csv --yes',
      'cards fund card_old --amount 25 --yes',
      'cards fund --file funds.csv --yes',
      'cards withdraw card_old --amount 25 --yes',
      "cards fund --where 'balance<9999' --to 5000 --yes",
      'api POST /cards -f bin_id=bin_1 -F amount:=25 --yes',
      'cards lease --bin bin_1 --amount 25 --reveal --yes -- true',
    ]) {
      const { code, err } = await s.run(line);
      expect({ line, code, effects: s.service.effects(), err }).toMatchObject({ line, code: 13, effects: [] });
      expect(err).toContain('USD');
    }
  });
});
