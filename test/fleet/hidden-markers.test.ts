/**
 * A service that does not show what a card was made with: one card at most, and from then on none. `hidden-markers.full.ts`
 * has every way of not showing it with keys that are honoured and with keys that are ignored.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';
import { applied, cardsOf, envOf, FILE, frontOf, type Shown, showsNoMarkers } from './hidden-markers.ts';

const NOWHERE: Shown = { answer: 'nothing in it', single: 'nothing in it', list: 'nothing in it' };
const SINGLE = FILE.replace('  event: {label: "event {n}", count: 3}', '  search: {label: search}');

showsNoMarkers('honoured', ['no field']);
showsNoMarkers('ignored', ['nothing in it']);

it('on another machine, whose journal knows nothing of the card: none is made beside it', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await frontOf(here.sandbox.url, NOWHERE, 'ignored');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE);
  expect((await applied(here, envOf(here, front), 1)).codes).toEqual([[0, 13]]);
  const elsewhere = { ...envOf(here, front), CARDWRIGHT_CONFIG_DIR: join(here.folder, 'other') };
  const plan = await here.run('fleet plan', { env: elsewhere });
  expect(plan.code, plan.all).toBe(13);
  expect(plan.err).toContain('card_1 has the label "search": it may be the card of search already');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE.replace('{label', '{card: card_1, label'));
  expect((await here.run('fleet plan --exit-code any', { env: elsewhere })).code).toBe(0);
  expect(await cardsOf(here)).toHaveLength(1);
});

it('the last card too: it is told with its line for the file, and with that line nothing is left to do', async () => {
  await using here = await world({ wallet: 500, served: true });
  await using front = await frontOf(here.sandbox.url, NOWHERE, 'ignored');
  const env = envOf(here, front);
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE);
  const { codes, told } = await applied(here, env, 1);
  const [card] = await cardsOf(here);
  const line = `search: {card: ${card?.id}}`;
  expect(codes, told.join('\n')).toEqual([[0, 13]]);
  expect(told.join('\n')).toContain(`${card?.id} was made and does not show its marker; no further card is made`);
  expect(told.join('\n')).toContain(`known by it:\n    ${line}`);
  expect(told.join('\n')).not.toContain('ops resume op_00000000000000000000000003\n\n');
  await writeFile(join(here.folder, 'cards.fleet.yaml'), SINGLE.replace('search: {label: search}', line));
  expect((await here.run('fleet plan --exit-code any', { env })).code).toBe(0);
});
