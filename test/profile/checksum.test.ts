/** A byte of the profile file that is not what was written: noticed before the profile is used for anything. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKey } from '../../src/profile/key.ts';
import { type ProfileFile, ProfileFileDamage, parseProfileFile } from '../../src/profile/profile-file.ts';
import { resolveProfile } from '../../src/profile/resolve.ts';
import { openProfileStore, type ProfileStore } from '../../src/profile/store.ts';
import { failure, freshFolder, hostIn, TEST_KEY } from './dependencies.ts';

const KEY_FILE_MODE = { mode: 0o600 };

/** Two profiles with limits: the one of a key kept here, the other of a key in a file. */
async function written(folder: string): Promise<{ path: string; text: string; store: ProfileStore }> {
  const store = await openProfileStore(hostIn(folder), () => undefined);
  const key_file = join(folder, 'key');
  await writeFile(key_file, `${TEST_KEY}\n`, KEY_FILE_MODE);
  await store.save({ name: 'teama', base_url: 'https://api.example.com/v1', key: readKey(TEST_KEY) });
  await store.save({ name: 'teamb', base_url: 'https://other.example.com/v1', key_file });
  for (const [setting, value] of [
    ['max_per_day', '250.00'],
    ['max_cards', '10'],
    ['read_only', 'true'],
    ['bins', 'bin_1,bin_2'],
  ] as const) {
    await store.set('teama', setting, value);
  }
  await store.use('teama');
  return { path: store.path, text: await readFile(store.path, 'utf8'), store };
}

/** All that a file says and that would be believed. */
function believed({ current, staleCurrent, profiles }: ProfileFile): string {
  const used = [...profiles.values()].filter(({ staleChecksum }) => staleChecksum === undefined);
  const plain = used.map(({ source, ...rest }) => ({
    ...rest,
    source: source.kind === 'stored' ? { ...source, key: source.key.expose() } : source,
  }));
  return JSON.stringify([staleCurrent === undefined ? current : 'refused', plain]);
}

test('every byte flipped, in each of its bits: never accepted with another value', async () => {
  await using fresh = await freshFolder();
  const { text } = await written(fresh.path);
  const bytes = Buffer.from(text);
  const whole = JSON.parse(believed(parseProfileFile(text)));
  const known = new Set([
    JSON.stringify(whole[0]),
    '"refused"',
    ...whole[1].map((one: unknown) => JSON.stringify(one)),
  ]);
  const count = { flips: 0, damaged: 0, refused: 0, same: 0 };
  const otherwise: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      count.flips += 1;
      try {
        const now = believed(parseProfileFile(flipped.toString('utf8')));
        const [current, profiles] = JSON.parse(now);
        if (now === JSON.stringify(whole)) count.same += 1;
        else if ([current, ...profiles].every(part => known.has(JSON.stringify(part)))) count.refused += 1;
        else otherwise.push(`byte ${at}, bit ${bit}: ${now}`);
      } catch (error) {
        if (!(error instanceof ProfileFileDamage)) throw error;
        count.damaged += 1;
      }
    }
  }
  process.stdout.write(`${JSON.stringify(count)}, accepted with other values: ${otherwise.length}\n`);
  expect(otherwise).toEqual([]);
  expect(count.refused).toBeGreaterThan(500);
});

test('a changed profile is used for nothing, changed no further, and kept as it is beside others', async () => {
  await using fresh = await freshFolder();
  const { path, text } = await written(fresh.path);
  await writeFile(path, text.replace('250.00', '950.00'), KEY_FILE_MODE);
  const store = await openProfileStore(hostIn(fresh.path), () => undefined);
  const resolving = (profile?: string) =>
    resolveProfile({
      flags: profile === undefined ? {} : { profile },
      env: {},
      interactive: false,
      store: async () => store,
      readKeyFile: async () => TEST_KEY,
    });
  const again = { name: 'teama', base_url: 'https://api.example.com/v1', key: readKey(TEST_KEY) };
  for (const use of [
    () => resolving(),
    () => resolving('teama'),
    () => store.key('teama'),
    () => store.set('teama', 'max_cards', '20'),
    () => store.save(again),
  ]) {
    const error = await failure(use);
    expect([error.kind, error.facts.hint]).toEqual(['guarded', 'cardwright profiles accept teama']);
    expect(error.message).toContain(`profile teama in ${path}`);
  }
  expect((await resolving('teamb')).baseUrl).toBe('https://other.example.com/v1');
  // A write of another profile does not accept it on the way.
  await store.set('teamb', 'max_cards', '3');
  const later = await openProfileStore(hostIn(fresh.path), () => undefined);
  expect([later.get('teama')?.changed, later.get('teamb')?.changed]).toEqual([true, undefined]);
  await later.accept('teama');
  expect(later.get('teama')?.settings.max_per_day).toBe('950.00');
  expect((await openProfileStore(hostIn(fresh.path), () => undefined)).get('teama')?.changed).toBe(undefined);
});

test('another current profile is chosen by nobody', async () => {
  await using fresh = await freshFolder();
  const { path, text } = await written(fresh.path);
  await writeFile(path, text.replace('"current": "teama"', '"current": "teamb"'), KEY_FILE_MODE);
  const store = await openProfileStore(hostIn(fresh.path), () => undefined);
  const asked = { flags: {}, env: {}, interactive: false, store: async () => store, readKeyFile: async () => TEST_KEY };
  const error = await failure(() => resolveProfile(asked));
  expect([error.kind, error.facts.hint]).toEqual(['guarded', 'cardwright profiles use teamb']);
  await store.use('teamb');
  expect((await resolveProfile(asked)).name).toBe('teamb');
});

test('a file of an older release has no checksums: taken once, and summed at the next write', async () => {
  await using fresh = await freshFolder();
  const { path, text } = await written(fresh.path);
  const { current_checksum: _, ...old } = JSON.parse(text);
  for (const profile of Object.values<Record<string, unknown>>(old.profiles)) delete profile['checksum'];
  await writeFile(path, JSON.stringify({ ...old, version: 1 }), KEY_FILE_MODE);
  const store = await openProfileStore(hostIn(fresh.path), () => undefined);
  expect(store.get('teama')?.changed).toBe(undefined);
  await store.use('teama');
  expect(await readFile(path, 'utf8')).toBe(text);
});
