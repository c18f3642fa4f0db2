/** The files that are given to begin with: the fleet is one, and the jobs of the CI do what they say. */
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readFleet } from '../../src/fleet/read.ts';
import { fleetSchema } from '../../src/fleet/schema.ts';
import { world } from '../support/world.ts';

const folder = join(import.meta.dirname, '..', '..', 'examples', 'fleet');

it('the schema takes what the reader takes, and refuses what it refuses', async () => {
  const isValid = new Ajv2020({ strict: false }).compile(fleetSchema());
  const text = await readFile(join(folder, 'cards.fleet.yaml'), 'utf8');
  const { wishes } = readFleet(text, { file: 'f', now: 0 });
  expect(wishes.map(({ name }) => name)).toEqual([
    'search',
    'social',
    'event-1',
    'event-2',
    'event-3',
    'seat-kim',
    'seat-lee',
  ]);
  const whole = parse(text);
  expect([isValid(whole), isValid.errors]).toEqual([true, null]);
  const wrong = [
    { ...whole, version: 2 },
    { ...whole, caps: { cards: 1 } },
    { ...whole, cards: { Search: {} } },
    { ...whole, cards: { a: { lable: 'x' } } },
    { ...whole, cards: { a: { amount: 5_000.01 } } },
    { ...whole, cards: { a: { label: 'x'.repeat(65) } } },
    { ...whole, cards: { a: { count: 1_001 } } },
    { ...whole, retired: { card_1: {} } },
  ];
  expect(wrong.map(each => isValid(each))).toEqual(wrong.map(() => false));
});

it('the jobs of the CI plan, apply and look for drift', async () => {
  await using here = await world({ wallet: 1_000 });
  await copyFile(join(folder, 'cards.fleet.yaml'), join(here.folder, 'cards.fleet.yaml'));
  const { jobs } = parse(await readFile(join(folder, 'fleet.github.yml'), 'utf8')) as {
    jobs: Record<string, { steps: { run?: string }[] }>;
  };
  // Output into a file is of the shell, and the key of this world is no live one.
  const lines = (job: string) =>
    (jobs[job]?.steps ?? [])
      .flatMap(({ run }) => (run?.startsWith('cardwright ') ? [run] : []))
      .map(run => run.replace(/ >>? .*$/, '').replace(' --live env', ''));
  expect(lines('plan')).toHaveLength(1);
  // Made and shown before anybody approves, and sent after it.
  expect(lines('make')).toHaveLength(1);
  expect(lines('apply')).toHaveLength(1);
  expect(lines('drift')).toHaveLength(1);
  for (const job of ['plan', 'make', 'apply', 'drift']) {
    for (const line of lines(job)) {
      const { code, err } = await here.run(line);
      expect({ line, code, says: code === 0 ? '' : err }).toEqual({ line, code: 0, says: '' });
    }
  }
  expect((await here.run('cards list --all -o id')).out.trim().split('\n')).toHaveLength(7);
  await here.run('cards freeze card_1');
  const [drift = ''] = lines('drift');
  expect((await here.run(drift)).code).toBe(16);
});
