/**
 * What a create answers must be the card that was asked for, and be provably its own
 * (docs/design/reliability.md, section 3).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';

const CREATE = 'cards create --bin bin_1 --amount 25 --label ads';

type Shown = Readonly<Record<string, unknown>>;

const LIMITED =
  'cards create --bin bin_1 --amount 25 --spending-limit 100 --allow-category software --auto-freeze-at 5 --metadata team=ads --metadata owner=kim';
const AS_ASKED = {
  spending_limit: 100,
  allowed_categories: ['Travel', 'Software'],
  auto_freeze_at: 5,
};

/** New cards are shown otherwise than they were asked for. */
function showing(s: ScriptedWorld, change: Shown): void {
  s.service.shown = card => (card['id'] === 'card_old' ? card : { ...card, ...change });
}

/** What becomes of a create that sets every limit, where the service shows these members so. */
function createdWith(s: ScriptedWorld, change: Shown) {
  showing(s, { ...AS_ASKED, ...change });
  return s.run(`${LIMITED} --allow-category travel`);
}

describe('a card that is ours by its marker, and not as it was asked for', () => {
  test.each<[string, Shown]>([
    ['amount', { balance: 500 }],
    ['BIN', { bin_id: 'bin_2' }],
    ['label', { label: 'other' }],
    ['status', { status: 'frozen' }],
  ])('another %s: 13, it is there, and its id is told', async (_name, change) => {
    await using s = await scriptedWorld();
    showing(s, change);
    const { code, error } = await s.run(CREATE);
    expect([code, error['outcome'], error['hint']]).toEqual([13, 'done', 'cardwright cards get card_2']);
    // A script that repeats what ended with 13 buys nothing a second time. A resume shows it once more, and then it is over.
    expect((await s.run('ops list')).out).toContain('"unacknowledged"');
    expect([(await s.run(CREATE)).code, s.service.effects()]).toEqual([14, ['create']]);
    expect((await s.run(`ops resume ${String(error['op'])}`)).code).toBe(13);
    expect((await s.run('ops list')).out).toContain('"finished"');
  });
});

describe('a card with the limits that were asked for', () => {
  test.each<[string, Shown]>([
    ['in another order and case', {}],
    ['and none of them shown', { spending_limit: undefined, allowed_categories: undefined, auto_freeze_at: undefined }],
    ['and codes in place of words', { allowed_categories: ['5734', '4722'] }],
  ])('%s: 0', async (_name, change) => {
    await using s = await scriptedWorld();
    const { code, err } = await createdWith(s, change);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('asked for') });
  });
});

describe('a card whose limits are not those that were asked for', () => {
  const wrong: [string, Shown][] = [
    ['its spending_limit is another', { spending_limit: 50_000 }],
    ['its allowed_categories is another', { allowed_categories: [] }],
    ['its allowed_categories is another', { allowed_categories: ['software', 'travel', 'fuel'] }],
    ['its auto_freeze_at is another', { auto_freeze_at: null }],
  ];
  test.each(wrong)('%s: 13 (%j)', async (text, change) => {
    await using s = await scriptedWorld();
    const { code, error } = await createdWith(s, change);
    expect({ code, ...error }).toMatchObject({
      code: 13,
      outcome: 'done',
      message: expect.stringContaining(`but ${text}`),
      hint: 'cardwright cards get card_2',
    });
  });

  test('an entry of its metadata is lost: 13', async () => {
    await using s = await scriptedWorld();
    s.service.shown = card => ({
      ...card,
      ...AS_ASKED,
      metadata: { ...(card['metadata'] as Shown), owner: undefined },
    });
    const { code, error } = await s.run(`${LIMITED} --allow-category travel`);
    expect({ code, message: error['message'] }).toEqual({
      code: 13,
      message: expect.stringContaining('but its metadata is other than was asked for'),
    });
  });

  test('in a file: the row tells it', async () => {
    await using s = await scriptedWorld();
    await writeFile(join(s.here.folder, 'cards.csv'), 'bin_id,amount,spending_limit\nbin_1,5,100\n');
    showing(s, { spending_limit: 50_000 });
    const { code, err } = await s.here.run('cards create --file cards.csv --yes');
    expect({ code, err }).toEqual({ code: 13, err: expect.stringContaining('but its spending_limit is another') });
  });
});

describe('a service that gives no metadata back', () => {
  test('a lease is refused there: the card is neither used nor terminated', async () => {
    await using s = await scriptedWorld();
    showing(s, { metadata: undefined });
    const { code, error } = await s.run('cards lease --amount 25 --bin bin_1 --reveal --yes -- true');
    expect([code, error['hint'], s.service.effects()]).toEqual([13, 'cardwright cards get card_2', ['create']]);
  });
});
