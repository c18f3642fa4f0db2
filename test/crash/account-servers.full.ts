import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { killAccountServers } from './account-servers.ts';

it.skipIf(missing() !== undefined)(
  'four servers of one account, killed 40 times with their database, lose no cent',
  async () => {
    expect(await killAccountServers({ servers: 4, changes: 4_000, every: 100 })).toBe(40);
  },
);
