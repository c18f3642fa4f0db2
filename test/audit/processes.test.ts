/** Several processes at one audit log, which counts reveals, as shells with four windows have them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditLog } from '../../src/audit/log.ts';
import { openSqlite } from '../../src/journal/sqlite.ts';
import { clock, random } from '../client/served.ts';
import { program } from '../support/child.ts';

const SOURCE = `
import { randomBytes } from 'node:crypto';
import { auditLog } from './src/audit/log.ts';
import { openSqlite } from './src/journal/sqlite.ts';
const [folder, writer, count] = process.argv.slice(2);
const around = {
  stateFolder: folder,
  clock: {
    now: Date.now,
    monotonic: () => performance.now(),
    sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
  },
  random: { bytes: n => new Uint8Array(randomBytes(n)), fraction: Math.random },
  pid: process.pid,
  user: 'tester',
  host: 'desk',
  platform: process.platform,
  warn: text => { throw new Error(text); },
};
const opening = openSqlite({ stateFolder: folder, files: around, clock: around.clock });
const database = () => opening;
const log = auditLog({ ...around, path: folder, database, existing: database });
for (let n = 0; n < Number(count); n += 1) {
  const facts = { profile: 'team', mode: 'test', origin: 'https://api.example.com', operation: 'cards.details' };
  const taken = log.append([{ event: 'reveal', ...facts, card_id: 'card_' + writer + '_' + n }]);
  await taken.then(() => console.log('taken'), error => { if (error.kind !== 'rate_limited') throw error; });
}
await (await opening).close();
`;

test('4 processes share 30 reveals a minute, and each reveal has its line in one chain', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-processes-'));
  await using writer = await program(SOURCE);
  const state = join(folder, 'state');
  const told = await Promise.all(['a', 'b', 'c', 'd'].map(name => writer.run(state, name, '9')));
  expect(told.join('').match(/taken/g)).toHaveLength(30);
  const who = { pid: process.pid, user: 'tester', host: 'desk' };
  const files = { platform: process.platform, random, warn: () => {} };
  const opened = await openSqlite({ stateFolder: state, files, clock });
  const database = async () => opened;
  const { entries, flaw } = await auditLog({ path: state, database, existing: database, clock, ...who }).read();
  await opened.close();
  expect(flaw).toBeUndefined();
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  expect(new Set(entries.map(({ card_id }) => card_id)).size).toBe(30);
  expect(new Set(entries.map(({ pid }) => pid)).size).toBeGreaterThan(1);
  await rm(folder, { recursive: true });
});
