import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { REVEALS_A_MINUTE, revealBudget } from '../../src/audit/reveal-budget.ts';
import { clock, random } from '../client/served.ts';

let folder: string;
let now: number;
const budget = (profile = 'team') =>
  revealBudget(profile, {
    stateFolder: join(folder, 'state'),
    clock: { ...clock, now: () => now },
    random,
    pid: process.pid,
    platform: process.platform,
    warn: () => undefined,
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-budget-'));
  now = Date.parse('2026-11-20T14:03:11Z');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function takeAll(count = REVEALS_A_MINUTE): Promise<void> {
  for (let taken = 0; taken < count; taken += 1) expect(await budget().take()).toEqual({ taken: true });
}

it('is neither freed nor locked for long by a clock that was set back', async () => {
  await takeAll();
  now -= 3_600_000;
  expect(await budget().take()).toMatchObject({ taken: false });
  now += 60_001;
  expect(await budget().take()).toEqual({ taken: true });
});

it.each(['', 'not JSON', '{}', '["x"]', 'null'])('counts %j in its file as a full minute, once', async text => {
  await takeAll(1);
  await writeFile(join(folder, 'state', 'reveals', 'team.json'), text);
  expect(await budget().take()).toEqual({ taken: false, waitMs: 60_000 });
  now += 60_001;
  expect(await budget().take()).toEqual({ taken: true });
});
