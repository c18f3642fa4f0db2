/**
 * What a create answers must be the card that was asked for, and be provably its own
 * (docs/design/reliability.md, sections 4 and 6).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Answer, type Script, type ScriptedCard, shownCard } from '../support/scripted-service.ts';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';

const CREATE = 'cards create --bin bin_1 --amount 25 --label ads';

/** The card that is made, shown and kept otherwise than it was asked for. */
const made =
  (s: ScriptedWorld, change: Partial<ScriptedCard>): Script =>
  write => {
    const answer = write.execute();
    const card = [...s.service.cards.values()].at(-1);
    if (card === undefined || write.action !== 'create') return answer;
    Object.assign(card, change);
    return { status: 201, body: shownCard(card) };
  };

const without = (s: ScriptedWorld): Script => made(s, { metadata: undefined });

describe('an answer with a card that is none of ours', () => {
  test.each<[string, (old: ScriptedCard) => unknown]>([
    ['an old card', old => shownCard(old)],
    ['an old card with all that was asked for', old => ({ ...shownCard(old), balance: 25, label: 'ads' })],
    [
      'an old card without metadata and time',
      old => ({ ...shownCard(old), balance: 25, label: 'ads', created_at: undefined, metadata: undefined }),
    ],
    ['a card that is not there', () => ({ id: 'card_9' })],
    [
      'a new card of another amount without metadata',
      old => ({ ...shownCard(old), created_at: '2026-11-20T14:03:11Z', label: 'ads', metadata: undefined }),
    ],
    [
      'a card with the marker of another operation',
      old => ({
        ...shownCard(old),
        balance: 25,
        label: 'ads',
        created_at: '2026-11-20T14:03:11Z',
        metadata: { cardwright: 'op_x.1' },
      }),
    ],
  ])('%s: 11, and nothing is called made', async (_name, show) => {
    await using s = await scriptedWorld();
    const old = s.service.cards.get('card_old') as ScriptedCard;
    s.service.script = () => ({ status: 201, body: show(old) });
    const { code, error, out } = await s.run(CREATE);
    expect([code, error['outcome'], out]).toEqual([11, 'unknown', '']);
  });

  test('the card was made all the same: it is found by its marker', async () => {
    await using s = await scriptedWorld();
    s.service.script = write => {
      write.execute();
      return { status: 201, body: shownCard(s.service.cards.get('card_old') as ScriptedCard) };
    };
    const { code, out } = await s.run(CREATE);
    expect([code, JSON.parse(out).id]).toEqual([0, 'card_1']);
  });

  test('a file: the row that was answered with the card of another is looked for', async () => {
    await using s = await scriptedWorld();
    await writeFile(join(s.here.folder, 'cards.csv'), 'bin_id,amount\nbin_1,5\nbin_1,5\n');
    let first: Answer | undefined;
    s.service.script = write => {
      const answer = write.execute();
      first ??= answer;
      return first;
    };
    const { code, out } = await s.run('cards create --file cards.csv --yes');
    const ids = out.match(/card_\d+/g);
    expect([code, [...new Set(ids)].sort()]).toEqual([0, ['card_1', 'card_2']]);
  });
});

describe('a card that is ours by its marker, and not as it was asked for', () => {
  test.each<[string, Partial<ScriptedCard>]>([
    ['amount', { cents: 50_000 }],
    ['BIN', { bin_id: 'bin_2' }],
    ['label', { label: 'other' }],
    ['status', { status: 'frozen' }],
  ])('another %s: 13, it is there, and its id is told', async (_name, change) => {
    await using s = await scriptedWorld();
    s.service.script = made(s, change);
    const { code, error } = await s.run(CREATE);
    expect([code, error['outcome'], error['hint']]).toEqual([13, 'done', 'cardwright cards get card_1']);
    // It is done: the same command is another one.
    expect((await s.run('ops list')).out).toContain('"finished"');
  });
});

describe('a service that gives no metadata back', () => {
  test('works, and it is said', async () => {
    await using s = await scriptedWorld();
    s.service.script = without(s);
    const { code, err } = await s.run(CREATE);
    expect(code).toBe(0);
    expect(err).toContain('the service does not give the metadata of a new card back');
  });

  test('a lease is refused there: the card is neither used nor terminated', async () => {
    await using s = await scriptedWorld();
    s.service.script = without(s);
    const { code, error } = await s.run('cards lease --amount 25 --bin bin_1 --reveal --yes -- true');
    expect([code, error['hint'], s.service.effects]).toEqual([13, 'cardwright cards get card_1', ['create']]);
  });
});

test('a lease neither hands out nor terminates an old card', async () => {
  await using s = await scriptedWorld();
  s.service.script = () => ({ status: 201, body: shownCard(s.service.cards.get('card_old') as ScriptedCard) });
  const { code } = await s.run('cards lease --amount 25 --bin bin_1 --reveal --yes -- true');
  expect([code, s.service.asked]).toEqual([11, ['create']]);
  expect(s.service.cards.get('card_old')?.status).toBe('active');
});
