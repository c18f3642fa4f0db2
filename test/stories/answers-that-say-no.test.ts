/**
 * Answers of 2xx that do not show what was asked for: nothing is called done that nobody has seen
 * (docs/design/reliability.md, section 3).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer, ScriptedCard } from '../support/scripted-service.ts';
import { scriptedWorld } from '../support/scripted-world.ts';

const SAYS_NO: readonly unknown[] = [
  {},
  { ok: false },
  { success: false },
  { succeeded: 'false' },
  { status: 'failed' },
  { state: 'DECLINED' },
  { result: 'rejected' },
  { outcome: 'payment_failed' },
  { status: 400 },
  { error: true },
  { errors: [{ code: 'limit' }] },
  { errors: ['limit'] },
  { errors: { amount: 'too high' } },
  { data: { status: 'cancelled' } },
  { result: { ok: false } },
  { card: { status: 'error' } },
  { status: 'pending' },
  { data: { state: 'queued' } },
  { amount: 25, card_balance: 100, wallet_balance: 1000 },
  { balance: 100, wallet_balance: 1000 },
];

describe.each([
  ['cards fund card_old --amount 25', 'fund', 12_500, 97_500],
  ['cards withdraw card_old --amount 25', 'withdraw', 7_500, 102_500],
] as const)('%s', (line, action, card, wallet) => {
  test('answered with 200 that does not show it, and not carried out: 11', async () => {
    await using s = await scriptedWorld();
    const old = s.service.cards.get('card_old') as ScriptedCard;
    // Each on a card of its own: what is unknown holds its card.
    for (const [nth, body] of SAYS_NO.entries()) {
      const id = `card_new_${nth}`;
      s.service.cards.set(id, { ...old, id });
      s.service.script = () => ({ status: 200, body });
      const { code, error, out } = await s.run(line.replace('card_old', id));
      expect({ body, code, out, outcome: error['outcome'] }).toEqual({ body, code: 11, out: '', outcome: 'unknown' });
    }
    expect(s.service.effects).toEqual([]);
    expect(s.service.asked).toEqual(SAYS_NO.map(() => action));
  });

  test.each([{}, { success: true }, { balance: 4 }])(
    'answered with %j and carried out: shown by reading',
    async body => {
      await using s = await scriptedWorld();
      s.service.script = write => {
        write.execute();
        return { status: 200, body };
      };
      const { code, out } = await s.run(line);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ card_balance: card / 100, wallet_balance: wallet / 100 });
    },
  );

  test('202 and carried out a little later: followed until it shows', async () => {
    await using s = await scriptedWorld();
    let late: (() => Answer) | undefined;
    s.service.script = write => {
      late = write.execute;
      return { status: 202, body: { status: 'processing' } };
    };
    let pauses = 0;
    const onPause = () => {
      pauses += 1;
      if (pauses === 2) late?.();
    };
    const { code } = await s.here.run(line, { onPause });
    expect({ code, effects: s.service.effects }).toEqual({ code: 0, effects: [action] });
  });

  test('a purchase in between, on a run of one: card and wallet do not agree', async () => {
    await using s = await scriptedWorld();
    s.service.script = write => {
      write.execute();
      const found = s.service.cards.get('card_old');
      if (found !== undefined) found.cents -= 300;
      return { status: 200, body: {} };
    };
    expect((await s.run(line)).code).toBe(11);
  });

  test('moved twice: not called done', async () => {
    await using s = await scriptedWorld();
    s.service.script = write => {
      write.execute();
      return write.execute();
    };
    expect((await s.run(line)).code).toBe(11);
  });
});

test('a file of funds: rows that were not carried out are unknown', async () => {
  await using s = await scriptedWorld();
  await writeFile(join(s.here.folder, 'funds.csv'), 'card_id,amount\ncard_old,5\n');
  s.service.script = () => ({ status: 200, body: { status: 'failed' } });
  const { code } = await s.run('cards fund --file funds.csv --yes');
  expect({ code, effects: s.service.effects }).toEqual({ code: 11, effects: [] });
});

test('the same change in the caller’s own words is looked at as well', async () => {
  await using s = await scriptedWorld();
  s.service.script = () => ({ status: 200, body: { ok: false } });
  expect((await s.run('api POST /cards/card_old/fund -F amount:=25 --yes')).code).toBe(11);
  expect((await s.run('api POST /elsewhere -F amount:=25 --yes')).code).not.toBe(0);
});

describe.each(['freeze', 'unfreeze', 'terminate'])('cards %s', action => {
  test.each([{}, { status: 'failed' }])('answered with %j, not carried out', async body => {
    await using s = await scriptedWorld();
    const card = s.service.cards.get('card_old');
    if (action === 'unfreeze' && card !== undefined) card.status = 'frozen';
    s.service.script = () => ({ status: 200, body });
    expect((await s.run(`cards ${action} card_old --yes`)).code).toBe(11);
  });
});
