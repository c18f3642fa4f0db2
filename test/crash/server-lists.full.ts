import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { playServerLists } from './server-lists.ts';

it.skipIf(missing() !== undefined)(
  'requests to four servers look as if they had run one after the other, while servers and the database are killed',
  { timeout: 1_800_000 },
  async () => {
    const { kills, outcomes } = await playServerLists({ servers: 4, histories: 6, requests: 850, seed: 1 });
    expect(kills).toBeGreaterThan(20);
    expect(outcomes.unknown).toBeGreaterThan(20);
    expect(outcomes.undone).toBeGreaterThan(100);
    expect(outcomes.committed).toBeGreaterThan(2_500);
  },
);
