/** A service that does not show what a card was made with: one card at most, and from then on none. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/sandbox-http.ts';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';
import { type Front, frontOf } from './front.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 300.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  event: {label: "event {n}", count: 3}
`;

type Card = Record<string, unknown>;

/** What a service shows of the metadata of a card: all, nothing, a map without an entry, or null. */
type Shows = 'all' | 'no field' | 'nothing in it' | 'null';

interface Shown {
  readonly answer: Shows;
  readonly single: Shows;
  readonly list: Shows;
}

function seen(card: Card, shows: Shows): Card {
  const { metadata, ...rest } = card;
  if (shows === 'no field') return rest;
  return { ...rest, metadata: shows === 'all' ? metadata : shows === 'null' ? null : {} };
}

/** Takes metadata out of answers, and keys out of requests. */
const hiding = (here: World, shown: Shown, keys: 'honoured' | 'ignored') =>
  frontOf(here, {
    request: (_, headers) => keys === 'ignored' && delete headers['x-idempotency-key'],
    answer: (line, text) => rewritten(line, text, shown),
  });

function rewritten(line: string, text: string, { answer, single, list }: Shown): string {
  if (/^POST \/v1\/cards$/.test(line)) return JSON.stringify(seen(JSON.parse(text), answer));
  if (/^GET \/v1\/cards\/[^/]+$/.test(line)) return JSON.stringify(seen(JSON.parse(text), single));
  if (line !== 'GET /v1/cards') return text;
  const { data, ...page } = JSON.parse(text) as { data: Card[] };
  return JSON.stringify({ ...page, data: data.map(card => seen(card, list)) });
}

async function cardsOf({ sandbox }: World): Promise<readonly { readonly id: string }[]> {
  return (await ask(sandbox, { path: '/cards?per_page=100' })).json.data;
}

/** Plans and applies so many times; the exit codes of each. */
async function applied(here: World, { patient }: Front, times: number) {
  const told: string[] = [];
  const codes: (readonly [number, number?])[] = [];
  for (let time = 1; time <= times; time += 1) {
    const plan = await here.run(`fleet plan --out plan-${time}.json`, patient);
    told.push(plan.err);
    if (plan.code !== 0) {
      codes.push([plan.code]);
      continue;
    }
    const apply = await here.run(`fleet apply --plan plan-${time}.json --yes`, patient);
    told.push(apply.err);
    codes.push([plan.code, apply.code]);
  }
  return { codes, told };
}

async function scene(shown: Shown, keys: 'honoured' | 'ignored', times: number) {
  await using here = await world({ wallet: 500, served: true });
  await using front = await hiding(here, shown, keys);
  await writeFile(join(here.folder, 'cards.fleet.yaml'), FILE);
  const found = await applied(here, front, times);
  return { ...found, cards: (await cardsOf(here)).length };
}

const HIDDEN: readonly Shows[] = ['no field', 'nothing in it', 'null'];

/** Each story with keys that are honoured or ignored, and each way of not showing it that stands there. */
function showsNoMarkers(keys: 'honoured' | 'ignored', hidden: readonly Shows[]): void {
  describe(`keys ${keys}`, () => {
    it.each(hidden)('metadata nowhere (%s): one card is made, and none after it', async shows => {
      const { codes, told, cards } = await scene({ answer: shows, single: shows, list: shows }, keys, 3);
      expect({ codes, cards }, told.join('\n')).toEqual({ codes: [[0, 13], [13], [13]], cards: 1 });
    });

    it.each(hidden)('an answer that repeats what was asked, and %s when it is read', async shows => {
      const { codes, told, cards } = await scene({ answer: 'all', single: shows, list: shows }, keys, 3);
      expect({ codes, cards }, told.join('\n')).toEqual({ codes: [[0, 13], [13], [13]], cards: 1 });
    });

    it.each(hidden)('an answer without it (%s), and it is there when it is read', async shows => {
      const { codes, told, cards } = await scene({ answer: shows, single: 'all', list: 'all' }, keys, 2);
      expect({ codes, cards }, told.join('\n')).toEqual({
        codes: [
          [0, 0],
          [0, 0],
        ],
        cards: 3,
      });
    });

    it.each(hidden)('a list without it (%s): its cards are read one by one', async shows => {
      const { codes, told, cards } = await scene({ answer: 'all', single: 'all', list: shows }, keys, 2);
      expect({ codes, cards }, told.join('\n')).toEqual({
        codes: [
          [0, 0],
          [0, 0],
        ],
        cards: 3,
      });
    });
  });
}

const NOWHERE: Shown = { answer: 'nothing in it', single: 'nothing in it', list: 'nothing in it' };
const SINGLE = FILE.replace('  event: {label: "event {n}", count: 3}', '  search: {label: search}');

showsNoMarkers('honoured', isWhole ? HIDDEN : ['no field']);
showsNoMarkers('ignored', isWhole ? HIDDEN : ['nothing in it']);

it('on another machine, whose journal knows nothing of the card: none is made beside it', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await hiding(here, NOWHERE, 'ignored');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE);
  expect((await applied(here, front, 1)).codes).toEqual([[0, 13]]);
  const elsewhere = { ...front.env, CARDWRIGHT_CONFIG_DIR: join(here.folder, 'other') };
  const plan = await here.run('fleet plan', { env: elsewhere });
  expect(plan.code, plan.all).toBe(13);
  expect(plan.err).toContain('card_1 has the label "search": it may be the card of search already');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE.replace('{label', '{card: card_1, label'));
  expect((await here.run('fleet plan --exit-code any', { env: elsewhere })).code).toBe(0);
  expect(await cardsOf(here)).toHaveLength(1);
});

it('the last card too: it is told with its line for the file, and with that line nothing is left to do', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await hiding(here, NOWHERE, 'ignored');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE);
  const { codes, told } = await applied(here, front, 1);
  const [card] = await cardsOf(here);
  const line = `search: {card: ${card?.id}}`;
  expect(codes, told.join('\n')).toEqual([[0, 13]]);
  expect(told.join('\n')).toContain(`${card?.id} was made and does not show its marker; no further card is made`);
  expect(told.join('\n')).toContain(`known by it:\n    ${line}`);
  expect(told.join('\n')).not.toContain('ops resume op_00000000000000000000000003\n\n');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE.replace('search: {label: search}', line));
  expect((await here.run('fleet plan --exit-code any', front)).code).toBe(0);
});
