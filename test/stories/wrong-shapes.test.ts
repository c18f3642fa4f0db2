/** Files of ours that are JSON and not what we write: a named error, or nothing known of them, never a bug. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { openCleanupLog } from '../../src/events/cleanup-log.ts';
import { capabilitiesIn } from '../../src/journal/capabilities.ts';
import { readFacts } from '../../src/sandbox/serving/server-files.ts';
import { chance, freshFolder } from '../profile/dependencies.ts';

const CAPABILITIES = {
  version: 2,
  accounts: [
    {
      origin: 'https://a.example',
      mode: 'test',
      key_print: '0'.repeat(8),
      operations: { 'cards.create': { key: 'honoured', ttl_ms: null, at: 1 } },
    },
  ],
};
const by = { pid: 4_194_305, started: '1', boot: 'b', pids: 'p', machine: 'm' };
const LEFTOVER = { kind: 'lease', profile: 'p', base_url: 'u', made_at: 1, ends_at: 2, facts: { card: 'card_1' }, by };
const SERVER = { url: 'http://127.0.0.1:4010/v1', pid: 1, started_at: '2026-11-20T00:00:00Z', instance: 'i' };

const WRONG = [null, 0, -1, 1.5, true, 'x', [], {}, [null], { a: null }];

/** The value with each of its members, at any depth, replaced by each wrong one or left out; and each wrong one itself. */
function* spoiled(value: unknown): Iterable<unknown> {
  yield* WRONG;
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) for (const other of spoiled(member)) yield value.with(index, other);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      for (const other of spoiled(member)) yield { ...value, [name]: other };
      yield { ...value, [name]: undefined };
    }
  }
}

const files = { platform: process.platform, random: chance, warn: () => undefined };

const READERS: Record<string, { whole: unknown; at: string; read(folder: string, path: string): Promise<unknown> }> = {
  'what keys are worth': {
    whole: CAPABILITIES,
    at: 'capabilities.json',
    read: folder =>
      capabilitiesIn(folder, files).of(
        { origin: 'https://a.example', mode: 'test', keyPrint: '0'.repeat(8) },
        'cards.create',
      ),
  },
  'what is to be taken away': {
    whole: LEFTOVER,
    at: 'leftovers/lease-1.json',
    read: folder =>
      openCleanupLog({ folder, pid: process.pid, now: () => 5, files, isRunning: () => false }).abandoned('lease'),
  },
  'a started sandbox': { whole: SERVER, at: 'server.json', read: (_, path) => readFacts(path, files) },
};

test.each(Object.entries(READERS))('%s: any member of another shape', async (_name, { whole, at, read }) => {
  await using fresh = await freshFolder();
  const path = join(fresh.path, at);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const bugs: string[] = [];
  for (const value of spoiled(whole)) {
    const text = JSON.stringify(value);
    await writeFile(path, text, { mode: 0o600 });
    await read(fresh.path, path).catch((thrown: unknown) => {
      const isNamed = thrown instanceof CliError && thrown.kind === 'check_failed' && thrown.message.includes(path);
      // A limit that is used up by what the file says is no mistake of it.
      if (!isNamed && !(thrown instanceof CliError && thrown.kind === 'guarded')) bugs.push(`${text}: ${thrown}`);
    });
  }
  expect(bugs).toEqual([]);
});
