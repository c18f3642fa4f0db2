/** Reveals are counted by their lines in the audit log. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { auditLog, REVEALS_A_MINUTE } from '../../src/audit/log.ts';
import { openSqlite } from '../../src/journal/sqlite.ts';
import { clock, random } from '../client/served.ts';

it('counts those of a minute, and those ahead of a clock that was set back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-budget-'));
  let now = Date.parse('2026-11-20T14:03:11Z');
  const moved = { ...clock, now: () => now };
  const files = { platform: process.platform, random, warn: () => undefined };
  const opened = await openSqlite({ stateFolder: folder, files, clock: moved });
  const database = async () => opened;
  const log = auditLog({ path: folder, database, existing: database, clock: moved, pid: 1, user: 'ana', host: 'desk' });
  const reveal = (profile = 'team') => {
    const facts = { profile, mode: 'test', origin: 'https://api.example.com', operation: 'cards.details' } as const;
    return log.append([{ event: 'reveal', ...facts }]);
  };
  const full = { kind: 'rate_limited', facts: { outcome: 'not_sent' } };
  for (let taken = 0; taken < REVEALS_A_MINUTE; taken += 1) await reveal();
  await expect(reveal()).rejects.toMatchObject({ ...full, facts: { retryAfterMs: 60_000 } });
  await reveal('other');
  now -= 3_600_000;
  await expect(reveal()).rejects.toMatchObject(full);
  now += 3_660_001;
  expect(await log.revealsOf('team')).toBe(0);
  await reveal();
  await opened.close();
  await rm(folder, { recursive: true });
});
