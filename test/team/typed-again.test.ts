/**
 * The database is ended by kill -9 while a command asks the service. The first thing that people do then is to type the same command
 * again, the operator and a colleague, while it is away and when it is back. The shortest case of outages.full.ts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { skippingClock } from '../support/clocks.ts';
import type { World } from '../support/world.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

const STORIES = [
  { line: 'cards fund card_1 --amount 7', changes: 1 },
  { line: 'cards withdraw card_1 --amount 3', changes: 1 },
  { line: 'cards create --file team.csv --yes --concurrency 1', changes: 3 },
];
const ROWS = [3, 4, 5];
/** USD on the card and in the wallet, and how many cards there are, when all three are done once. */
const IN_THE_END = { card: 20 + 7 - 3, wallet: 100 - 20 - 7 + 3 - 3 - 4 - 5, cards: 4 };

describe.skipIf(missing())('the same command, typed again', () => {
  it('sends nothing while the database is away, and nothing twice when it is back', async () => {
    await using own = await ownServer();
    await using t = await team(own, { wallet: 100, delayMs: 300 });
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const file = `bin_id,amount\n${ROWS.map(amount => `bin_1,${amount}\n`).join('')}`;
    for (const { folder } of [ana, ben]) await writeFile(join(folder, 'team.csv'), file);
    expect((await ana.run('cards create --bin bin_1 --amount 20')).code).toBe(0);
    for (const { line, changes } of STORIES) {
      const posts = t.proxy.posts().length;
      t.proxy.fail('POST', /./, 'late-answer');
      const killed = t.proxy.posted(posts + 1).then(() => own.stop('SIGKILL'));
      const struck = await typed(ana, line);
      await killed;
      expect(struck.code, struck.err).toBe(11);
      for (const who of [ana, ben]) {
        const away = await typed(who, line);
        expect([away.code, away.next], away.err).toEqual([14, 'doctor']);
      }
      await own.start();
      for (const who of [ben, ana]) {
        const back = await typed(who, line);
        expect([back.code, back.err]).toEqual([14, expect.stringContaining('No request was sent')]);
        const step = await typed(who, `${back.next}`);
        expect(step.code, step.err).toBe(0);
      }
      expect(t.proxy.posts().length - posts, line).toBe(changes);
    }
    const cards = await t.cards();
    expect({
      card: cards.find(({ id }) => id === 'card_1')?.balance,
      wallet: await t.balance(),
      cards: cards.length,
    }).toEqual(IN_THE_END);
    const checked = await typed(ben, 'journal check --json');
    expect([checked.code, JSON.parse(checked.out).flaws]).toEqual([0, []]);
  });
});

/** With the command that a refusal names. */
async function typed({ run }: World, line: string) {
  const ended = await run(line, { clock: skippingClock() });
  return { ...ended, next: /^ *try: cardwright (.*)$/m.exec(ended.err)?.[1] };
}
