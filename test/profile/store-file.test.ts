import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readKey } from '../../src/profile/parts.ts';
import { openProfileStore } from '../../src/profile/store.ts';
import { isWhole } from '../support/whole.ts';
import { allText, failure, freshFolder, hostIn, LIVE_KEY, TEST_KEY, wholeText } from './dependencies.ts';

const BASE = 'https://api.example.com/v1';

async function openIn(folder: string, warnings: string[] = []) {
  return openProfileStore(hostIn(folder), text => void warnings.push(text));
}

const work = (key = TEST_KEY, name = 'work') => ({ name, base_url: BASE, key: readKey(key) });

describe('the file', () => {
  test('cut at any byte is a named error, and it stays', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    await store.save(work(LIVE_KEY, 'live'));
    await store.set('work', 'bins', 'bin_a,bin_b');
    const whole = await readFile(store.path, 'utf8');
    // The last character is the newline after the closing bracket.
    for (let length = 0; length < whole.length - 1; length += isWhole ? 1 : 29) {
      const cut = whole.slice(0, length);
      await writeFile(store.path, cut);
      const error = await failure(() => openIn(fresh.path));
      expect([error.kind, error.message]).toEqual(['check_failed', expect.stringContaining(store.path)]);
      expect(wholeText(error)).not.toMatch(/CANARY|sk_(test|live)_[A-Za-z0-9]/);
      expect(await readFile(store.path, 'utf8')).toBe(cut);
    }
  });

  test('is not written over while damaged', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    await writeFile(store.path, '{"half":');
    for (const change of [() => store.save(work()), () => store.use('work'), () => store.remove('work')]) {
      expect((await failure(change)).kind).toBe('check_failed');
    }
    expect(await readFile(store.path, 'utf8')).toBe('{"half":');
  });

  test.each([
    ['another version', (whole: Whole) => ({ ...whole, version: 2 }), 'another form'],
    ['no version', (whole: Whole) => ({ ...whole, version: undefined }), 'version'],
    ['an unknown key', (whole: Whole) => ({ ...whole, more: 1 }), 'unknown'],
    ['a list', () => [], 'the file'],
    ['a reserved name', (whole: Whole) => ({ ...whole, profiles: { sandbox: whole.profiles['work'] } }), 'reserved'],
    ['an address over http', (whole: Whole) => patched(whole, { base_url: 'http://evil.example.com' }), 'base_url'],
    ['a broken key', (whole: Whole) => patched(whole, { key: `${TEST_KEY}\n\n` }), 'key'],
    [
      'a live key for this machine',
      (whole: Whole) => patched(whole, { base_url: 'http://localhost', key: LIVE_KEY }),
      'base_url',
    ],
    ['a strange setting', (whole: Whole) => patched(whole, { settings: { max_cards: '3' } }), 'settings'],
    ['a nested setting', (whole: Whole) => patched(whole, { settings: { bins: [{ toString: 1 }] } }), 'settings'],
    [
      'a command by name',
      (whole: Whole) =>
        patched(whole, {
          key: undefined,
          key_source: 'key_command',
          mode: 'test',
          hint: 'sk_test_…1111',
          command: ['pass'],
        }),
      'command',
    ],
    ['a chosen profile that is not there', (whole: Whole) => ({ ...whole, current: 'gone' }), 'current'],
  ])('with %s is damaged', async (_, spoil, why) => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    await writeFile(store.path, JSON.stringify(spoil(JSON.parse(await readFile(store.path, 'utf8')))));
    const error = await failure(() => openIn(fresh.path));
    expect([error.kind, error.message]).toEqual(['check_failed', expect.stringContaining(why)]);
    expect(wholeText(error)).not.toContain('CANARY');
  });

  test('holding any JSON at all is read or named as damaged, never a bug', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 3 }), async text => {
        await writeFile(store.path, text);
        expect((await failure(() => openIn(fresh.path))).kind).toBe('check_failed');
      }),
      { numRuns: 20 },
    );
  });
});

interface Whole {
  readonly profiles: Readonly<Record<string, object>>;
}

function patched(whole: Whole, more: object): Whole {
  return { ...whole, profiles: { work: { ...whole.profiles['work'], ...more } } };
}

describe('removing', () => {
  test('leaves no copy of the key anywhere, and nothing chosen', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    await store.save({ ...work('sk_test_stays_here'), name: 'other' });
    await store.use('work');
    const whole = await readFile(store.path, 'utf8');
    // What a process killed in the middle of a write would have left.
    await writeFile(`${store.path}.tmp-0011223344556677`, whole, { mode: 0o600 });
    await (await openIn(fresh.path)).remove('work');
    expect(await allText(fresh.path)).not.toContain('CANARY');
    expect(await readdir(join(fresh.path, 'config'))).toEqual(['config.json', 'config.json.lock']);
    const after = await openIn(fresh.path);
    expect([after.file.current, [...after.file.profiles.keys()]]).toEqual([undefined, ['other']]);
  });
});
