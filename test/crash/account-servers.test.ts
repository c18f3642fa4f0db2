import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { killAccountServers } from './account-servers.ts';

it.skipIf(missing() !== undefined)(
  'two servers of one account, killed in turn, lose no cent and no delivery',
  async () => {
    expect(await killAccountServers({ servers: 2, changes: 20, every: 8 })).toBe(2);
  },
);
