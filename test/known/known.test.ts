import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idCacheFile } from '../../src/id-cache/path.ts';
import {
  forgetShown,
  idsIn,
  readShown,
  rememberShown,
  type ShownHost,
  type ShownIds,
} from '../../src/id-cache/shown.ts';
import type { Folders } from '../../src/platform/host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NOTHING: ShownIds = { card: [], bin: [], webhook: [] };
const whose = { profile: 'team', place: 'test at https://api.example.com/v1' };

const card = (id: string, more: object = {}) => ({ id, network: 'visa', last4: '4242', status: 'active', ...more });
const page = (...data: object[]) => ({ data, page: {} });
const ids = ({ card: cards }: ShownIds) => cards.map(({ id, status }) => `${id} ${status}`);

const hostIn = (folder: string): ShownHost => ({
  folders: { cache: join(folder, 'cache') } as Folders,
  platform: process.platform,
  noise: { bytes: count => new Uint8Array(count), fraction: () => 0 },
});

type Step = readonly [operation: string, input: Readonly<Record<string, unknown>>, answer: unknown];

/** What is known after one run for each list of steps. */
async function knownAfter(...runs: readonly (readonly Step[])[]): Promise<ShownIds> {
  await using folder = await temporaryFolder();
  const host = hostIn(folder.path);
  for (const steps of runs) {
    await rememberShown(
      host,
      whose,
      steps.map(step => idsIn(...step)).filter(each => each !== undefined),
    );
  }
  return readShown(host, whose);
}

describe('what answers show', () => {
  it('holds no secret, wherever a service or a person has put one, and no id that could act', async () => {
    expect(idsIn('cards.details', { card_id: 'a' }, { card_id: 'a', number: '4242424242424242' })).toBeUndefined();
    const label = 'pay 4242 4242 4242 4242 with sk_live_abcdefgh12345678';
    const list = page(card('a', { label }), card('4242424242424242'), card('$(touch x)'), card('b c'));
    const known = await knownAfter([['cards.list', {}, list]]);
    expect(ids(known)).toEqual(['a active']);
    expect(JSON.stringify(known)).not.toMatch(/4242 4242 4242|abcdefgh12345678/);
  });
});

describe('the file', () => {
  const seen = [{ kind: 'card', rows: [card('a')], gone: [] }] as const;

  it('is 0600 in 0700 folders, for its own place alone, and gone with its profile', async () => {
    await using folder = await temporaryFolder();
    const host = hostIn(folder.path);
    await rememberShown(host, whose, seen);
    const path = idCacheFile(host.folders.cache, 'team');
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
    expect((await lstat(host.folders.cache)).mode & 0o777).toBe(0o700);
    expect(ids(await readShown(host, whose))).toEqual(['a active']);
    expect(await readShown(host, { ...whose, place: 'live' })).toEqual(NOTHING);
    await forgetShown(host.folders.cache, 'team');
    expect(await readShown(host, whose)).toEqual(NOTHING);
  });

  it('that is damaged or hostile shows nothing', async () => {
    await using folder = await temporaryFolder();
    const host = hostIn(folder.path);
    await rememberShown(host, whose, seen);
    const path = idCacheFile(host.folders.cache, 'team');
    const hostile = { place: whose.place, shown: { card: [{ id: '$(x)', about: '' }, 7, { id: 'a' }], bin: null } };
    const texts = [...fc.sample(fc.oneof(fc.string(), fc.json()), 50), JSON.stringify(hostile)];
    for (const text of texts) {
      await writeFile(path, text, { mode: 0o600 });
      expect(await readShown(host, whose)).toEqual(NOTHING);
    }
  });

  it('that is a link is neither followed nor written through', async () => {
    await using folder = await temporaryFolder();
    const host = hostIn(folder.path);
    const path = idCacheFile(host.folders.cache, 'team');
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(join(folder.path, 'mine'), 'mine');
    await symlink(join(folder.path, 'mine'), path);
    expect(await readShown(host, whose)).toEqual(NOTHING);
    await rememberShown(host, whose, seen);
    expect(await readFile(join(folder.path, 'mine'), 'utf8')).toBe('mine');
  });
});
