import { expect, it } from 'vitest';
import { history, MANNERS } from './histories.ts';

it('holds what a moving service holds after 200 histories of six syncs, each killed at some commit or request', async () => {
  let kills = 0;
  for (let seed = 0; seed < 200; seed += 1) {
    const { held, truth, kills: more } = await history(seed, 6);
    kills += more;
    expect({ seed, manners: MANNERS[seed % MANNERS.length], held }).toMatchObject({ held: truth });
  }
  expect(kills).toBeGreaterThan(500);
}, 600_000);
