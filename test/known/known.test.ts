import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Service } from '../../src/contract/service.ts';
import {
  emptyIdCache,
  type IdCache,
  idCacheText,
  KEPT_MS,
  MOST_ROWS,
  parseIdCache,
} from '../../src/id-cache/contents.ts';
import { cacheScope, changeIdCache, forgetIdCache, type IdCacheHost, readIdCache } from '../../src/id-cache/file.ts';
import { takeNotes } from '../../src/id-cache/notes.ts';
import { idCacheFile } from '../../src/id-cache/path.ts';
import type { Folders } from '../../src/platform/host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NOW = Date.parse('2026-11-20T14:03:11Z');
const PLACE = cacheScope(['test', 'https://api.example.com/v1', 'sk_test_…abcd']);

function card(id: string, more: object = {}) {
  return { id, bin_id: 'bin_1', network: 'visa', last4: '4242', status: 'active', balance: 5, label: '', ...more };
}

/** A service that answers each operation with what is handed in. */
function answering(answers: Readonly<Record<string, unknown>>): Service {
  return {
    send: async (operation: string) => ({ result: answers[operation], status: 200, changed: true, reread: false }),
    deliver: async ({ operation }: { operation: string }) => ({
      class: operation in answers ? 'done' : 'ambiguous',
      result: answers[operation],
    }),
    async *pages(operation: string) {
      yield* answers[operation] as Iterable<unknown>;
    },
  } as unknown as Service;
}

type Step = readonly [operation: string, input: object, answer: unknown];

/** What is known after the steps, each through the call that carries such an operation. */
async function knownAfter(steps: readonly Step[], before: IdCache = emptyIdCache(PLACE)): Promise<IdCache> {
  const notes = takeNotes(() => NOW);
  for (const [operation, input, answer] of steps) {
    const service = notes.listen(answering({ [operation]: answer }));
    if (operation === 'cards.list') for await (const _page of service.pages(operation, input as never));
    else if (/create|terminate|fund/.test(operation)) {
      await service.deliver({ operation } as never, input as never, {} as never);
    } else await service.send(operation as 'cards.get', input as never);
  }
  return notes.over(before);
}

const page = (cards: readonly object[], facts: object = {}) => ({ data: cards, page: facts });
const ids = ({ sections }: IdCache) => sections.card.rows.map(({ id, status }) => `${id} ${status}`);

describe('what answers tell', () => {
  it('a list, newest first, without what is terminated; more pages leave room for what was known', async () => {
    const older = await knownAfter([['cards.list', {}, [page([card('old')], { has_more: false })]]]);
    const list = page([card('a'), card('b', { status: 'frozen' }), card('c', { status: 'terminated' })], { total: 9 });
    const known = await knownAfter([['cards.list', { per_page: 3 }, [list]]], older);
    expect(ids(known)).toEqual(['a active', 'b frozen', 'old active']);
    expect(known.sections.card.listed).toBe(NOW);
    const whole = await knownAfter([['cards.list', {}, [page([card('a')], { has_more: false })]]], known);
    expect(ids(whole)).toEqual(['a active']);
  });

  it('a filtered list adds and corrects, and is no look at everything', async () => {
    const known = await knownAfter([['cards.list', {}, [page([card('a'), card('b')], { total: 2 })]]]);
    const lists: Step = ['cards.list', { status: 'terminated' }, [page([card('b', { status: 'terminated' })])]];
    const next = await knownAfter([lists, ['cards.list', { bin_id: 'x' }, [page([card('c')])]]], emptyIdCache(PLACE));
    expect(next.sections.card.listed).toBe(0);
    expect(ids(await knownAfter([lists], known))).toEqual(['a active']);
  });

  it('what is made, looked at, frozen and ended', async () => {
    const steps: Step[] = [
      ['cards.create', {}, card('a')],
      ['cards.create', {}, card('b', { label: 'ads' })],
      ['cards.get', { card_id: 'a' }, card('a', { label: 'later' })],
      ['cards.freeze', { card_id: 'b' }, card('b', { status: 'frozen' })],
    ];
    const known = await knownAfter(steps);
    expect(ids(known)).toEqual(['b frozen', 'a active']);
    expect(known.sections.card.rows.map(({ label }) => label)).toEqual(['ads', 'later']);
    expect(ids(await knownAfter([...steps, ['cards.terminate', { card_id: 'b' }, card('b')]]))).toEqual(['a active']);
    expect(
      ids(await knownAfter([...steps, ['cards.get', { card_id: 'a' }, card('a', { status: 'terminated' })]])),
    ).toEqual(['b frozen']);
  });

  it('BINs with what is good in them, subscriptions by their host alone', async () => {
    const bin = { id: 'bin_1', network: 'visa', type: 'credit', acceptance_rate: 97, best_for: ['ads', 'saas'] };
    const hook = { id: 'wh_1', url: 'https://hooks.example.com/T0/s3cr3t?token=x', status: 'active' };
    const { sections } = await knownAfter([
      ['bins.list', {}, page([bin])],
      ['webhooks.list', {}, page([hook, { ...hook, id: 'wh_2' }])],
      ['webhooks.delete', { webhook_id: 'wh_2' }, undefined],
    ]);
    expect(sections.bin.rows[0]?.about).toBe('visa credit, 97% accepted, ads saas');
    expect(sections.webhook.rows.map(({ id, about }) => `${id} ${about}`)).toEqual(['wh_1 hooks.example.com']);
  });

  it('details, and writes whose outcome is not known, tell nothing', async () => {
    const notes = takeNotes(() => NOW);
    const service = notes.listen(answering({ 'cards.details': { card_id: 'a', number: '4242424242424242' } }));
    await service.send('cards.details' as 'cards.get', { card_id: 'a' });
    await service.deliver({ operation: 'cards.terminate' } as never, { card_id: 'a' }, {} as never);
    expect(notes.isEmpty).toBe(true);
  });

  it('keeps no secret, wherever a service or a person has put one, and no id that could act', async () => {
    const label = 'pay 4242 4242 4242 4242 with sk_live_abcdefgh12345678';
    const known = await knownAfter([
      ['cards.list', {}, [page([card('a', { label }), card('4242424242424242'), card('$(touch x)'), card('b c')])]],
    ]);
    expect(ids(known)).toEqual(['a active']);
    expect(idCacheText(known)).not.toMatch(/4242 4242 4242|abcdefgh12345678/);
  });

  it('a run of thousands stays small, and has the next look', async () => {
    const many = Array.from({ length: 1_200 }, (_, number): Step => ['cards.create', {}, card(`c${number}`)]);
    const known = await knownAfter([['cards.list', {}, [page([card('a')])]], ...many]);
    expect(known.sections.card.rows.length).toBe(MOST_ROWS);
    expect(known.sections.card.listed).toBe(0);
  });
});

describe('the text of a cache', () => {
  it('comes back, for its own place alone, without rows nobody has seen for long', async () => {
    const known = await knownAfter([['cards.list', {}, [page([card('a', { label: 'ü "x"\n' })], { total: 1 })]]]);
    expect(parseIdCache(idCacheText(known), PLACE, NOW)).toEqual(known);
    expect(parseIdCache(idCacheText(known), cacheScope(['live']), NOW)).toEqual(emptyIdCache(cacheScope(['live'])));
    expect(ids(parseIdCache(idCacheText(known), PLACE, NOW + KEPT_MS))).toEqual([]);
  });

  it('that is damaged or hostile is nothing, or harmless', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), text => {
        expect(parseIdCache(text, PLACE, NOW)).toEqual(emptyIdCache(PLACE));
      }),
    );
    const row = { id: '$(touch x)', about: '', seen: NOW };
    const sections = { card: { listed: NOW + 9, asked: 'x', rows: [row, 7, { id: 'a' }] }, bin: null };
    expect(parseIdCache(JSON.stringify({ place: PLACE, sections }), PLACE, NOW)).toEqual(emptyIdCache(PLACE));
  });
});

describe('the file', () => {
  const hostIn = (folder: string): IdCacheHost => ({
    folders: { cache: join(folder, 'cache') } as Folders,
    clock: { now: () => NOW } as IdCacheHost['clock'],
    platform: process.platform,
    noise: { bytes: count => new Uint8Array(count), fraction: () => 0 },
  });
  const whose = { profile: 'team', place: PLACE };
  const row = { id: 'a', about: 'visa 4242', status: 'active', seen: NOW };
  const nothing = emptyIdCache(PLACE);
  const one: IdCache = { place: PLACE, sections: { ...nothing.sections, card: { listed: 0, asked: 0, rows: [row] } } };

  it('is 0600 in 0700 folders, and gone with its profile', async () => {
    await using folder = await temporaryFolder();
    const host = hostIn(folder.path);
    await changeIdCache(host, whose, () => one);
    const path = idCacheFile(host.folders.cache, 'team');
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
    expect((await lstat(host.folders.cache)).mode & 0o777).toBe(0o700);
    expect(await readIdCache(host, whose)).toEqual(one);
    expect(await readIdCache(host, { ...whose, place: cacheScope(['live']) })).toEqual(
      emptyIdCache(cacheScope(['live'])),
    );
    await forgetIdCache(host.folders.cache, 'team');
    expect(await readIdCache(host, whose)).toEqual(emptyIdCache(PLACE));
  });

  it('that is a link is neither followed nor written through', async () => {
    await using folder = await temporaryFolder();
    const host = hostIn(folder.path);
    const path = idCacheFile(host.folders.cache, 'team');
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(join(folder.path, 'mine'), idCacheText(one));
    await symlink(join(folder.path, 'mine'), path);
    expect(await readIdCache(host, whose)).toEqual(emptyIdCache(PLACE));
    await changeIdCache(host, whose, known => known);
    expect(await readFile(join(folder.path, 'mine'), 'utf8')).toBe(idCacheText(one));
  });
});
