import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { requires } from '../support/programs.ts';
import { killAccountServers } from './account-servers.ts';

it.skipIf(missing() !== undefined)(
  'four servers of one account, killed 40 times with their database, lose no cent',
  { timeout: 1_800_000 },
  async () => {
    expect(await killAccountServers({ servers: 4, changes: 1_000, every: 25 })).toBe(40);
  },
);

it.skipIf(missing() ?? requires('pgbouncer'))(
  'four servers behind a pooler in transaction mode, killed 40 times with it and the database, lose no cent',
  { timeout: 1_800_000 },
  async () => {
    expect(await killAccountServers({ servers: 4, changes: 1_000, every: 25, isPooled: true })).toBe(40);
  },
);
