import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { killAccountServers } from './account-servers.ts';

it.skipIf(missing() !== undefined)(
  'two servers of one account, killed in turn with their database, lose no cent',
  async () => {
    expect(await killAccountServers({ servers: 2, changes: 60, every: 18 })).toBe(3);
  },
);
