import { describe, expect, test } from 'vitest';
import { readKey } from '../../src/profile/parts.ts';
import { openProfileStore } from '../../src/profile/store.ts';
import { allText, failure, freshFolder, hostIn, LIVE_KEY, TEST_KEY, wholeText } from './dependencies.ts';

const BASE = 'https://api.example.com/v1';

async function openIn(folder: string, warnings: string[] = []) {
  return openProfileStore(hostIn(folder), text => void warnings.push(text));
}

const work = (key = TEST_KEY, name = 'work') => ({ name, base_url: BASE, key: readKey(key) });

/** Time that never comes. */
const untilAborted = (_ms: number, signal?: AbortSignal) =>
  new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

describe('profiles', () => {
  test('are saved, seen without their key, and read back by the next process', async () => {
    await using fresh = await freshFolder();
    const saved = await (await openIn(fresh.path)).save(work());
    const shown = {
      name: 'work',
      base_url: BASE,
      key_source: 'stored',
      mode: 'test',
      hint: 'sk_test_…1111',
      settings: {},
    };
    expect(saved).toMatchObject(shown);
    const store = await openIn(fresh.path);
    const [read] = store.file.profiles.values();
    expect(read).toMatchObject(shown);
    expect(JSON.stringify(read)).not.toContain('CANARY');
    expect((await store.key('work')).expose()).toBe(TEST_KEY);
  });

  test('a new login keeps limits, but not the leave to reveal live cards unattended', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    await store.set('work', 'max_per_call', '25.5');
    await store.set('work', 'allow_unattended_reveal', 'true');
    expect((await store.save(work('sk_test_another_key'))).settings).toEqual({
      max_per_call: '25.50',
      allow_unattended_reveal: true,
    });
    expect((await store.save(work(LIVE_KEY))).settings).toEqual({ max_per_call: '25.50' });
    expect(await allText(fresh.path)).not.toContain(TEST_KEY);
  });
});

describe('settings', () => {
  test.each([
    ['allow_unattended_reveal', 'true', true, ['yes', '1', 'TRUE', '']],
    ['read_only', 'false', false, ['none', 'no']],
    ['max_per_call', '250', '250.00', ['1e3', '-1', '$5', '1.234', 'x']],
    ['max_per_run', '0', '0.00', ['+5', '0x10']],
    ['max_per_day', '1250.5', '1250.50', ['1,250']],
    ['max_cards', '10', 10, ['1.5', '-1', '']],
    ['bins', 'bin_a,bin_b', ['bin_a', 'bin_b'], ['', 'a,,b', 'a/b']],
  ])('%s', async (setting, good, value, bad) => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    expect((await store.set('work', setting, good)).settings).toEqual({ [setting]: value });
    expect((await openIn(fresh.path)).file.profiles.get('work')?.settings).toEqual({ [setting]: value });
    for (const text of bad) {
      const error = await failure(() => store.set('work', setting, text));
      expect([error.kind, error.message]).toEqual(['usage', expect.stringContaining(`${setting} takes `)]);
    }
    if (good !== 'true' && good !== 'false') {
      expect((await store.set('work', setting, 'none')).settings).toEqual({});
    }
  });

  test('base_url stays within the origin the key is bound to', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    await store.save(work());
    expect((await store.set('work', 'base_url', 'https://api.example.com/v2/')).base_url).toBe(
      'https://api.example.com/v2',
    );
    for (const other of ['https://evil.example.com/v1', 'https://api.example.com:8443/v1', 'http://127.0.0.1/v1']) {
      expect((await failure(() => store.set('work', 'base_url', other))).kind).toBe('guarded');
    }
    expect((await failure(() => store.set('work', 'base_url', 'http://api.example.com'))).kind).toBe('usage');
    expect((await openIn(fresh.path)).file.profiles.get('work')?.base_url).toBe('https://api.example.com/v2');
  });
});

describe('other sources of the key', () => {
  test.each([
    ['fails', `echo ${TEST_KEY}; exit 3`, 'exit code 3'],
    ['prints too much', "printf '%09000d' 0 | tr 0 x", 'too much'],
  ])('a key command that %s is a named error without its output', async (_, script, why) => {
    await using fresh = await freshFolder();
    const host = hostIn(fresh.path);
    host.clock.sleep = untilAborted;
    const store = await openProfileStore(host, () => {});
    const error = await failure(() =>
      store.save({ name: 'pm', base_url: BASE, key_command: ['/bin/sh', '-c', script] }),
    );
    expect([error.kind, error.message]).toEqual(['not_authenticated', expect.stringContaining(why)]);
    expect(wholeText(error)).not.toMatch(/CANARY|xxxx/);
  });

  test('a key command that hangs is ended, relative programs and paths are refused', async () => {
    await using fresh = await freshFolder();
    const store = await openIn(fresh.path);
    const hangs = ['/bin/sleep', '3600'];
    const error = await failure(() => store.save({ name: 'pm', base_url: BASE, key_command: hangs }));
    expect(error.message).toContain('within a minute');
    for (const relative of [{ key_command: ['pass'] }, { key_command: [] }, { key_file: './key' }]) {
      const refused = await failure(() => store.save({ name: 'pm', base_url: BASE, ...relative }));
      expect([refused.kind, refused.message]).toEqual(['usage', expect.stringContaining('absolute')]);
    }
  });
});
