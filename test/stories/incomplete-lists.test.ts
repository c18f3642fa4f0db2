/** A service that counts more cards than it shows: no decision rests on such a list. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';

const TOTAL = 3;
const page = (data: readonly object[], total: number) => ({
  status: 200,
  body: { data, meta: { page: 1, per_page: 100, total, total_pages: 1 } },
});
const CARD = {
  id: 'card_1',
  bin_id: 'bin_1',
  network: 'visa',
  last4: '4242',
  status: 'active',
  balance: 5,
  label: 'ads',
  metadata: {},
  created_at: '2026-11-01T00:00:00Z',
};

/** `rows` of the three cards that it counts are shown. */
async function incompleteWorld(rows: 0 | 1): Promise<ScriptedWorld> {
  const world = await scriptedWorld();
  world.service.reads = path => {
    if (path === '/cards') return page([CARD].slice(0, rows), TOTAL);
    if (path === '/transactions' || path === '/3ds/challenges') return page([], 0);
    return undefined;
  };
  const policy = 'version: 1\nrules:\n  - { name: rich, when: { balance: "> 1.00" }, then: freeze }\n';
  await writeFile(join(world.here.folder, 'policy.yaml'), policy);
  return world;
}

const DECISIONS = [
  "cards freeze --where 'balance>1' --yes",
  "cards fund --where 'balance>1' --to 20 --yes",
  "cards fund --where 'balance>1' --to 20 --dry-run",
  'cards freeze card_… --yes',
  'cards lease --reap --yes',
  "fleet import --where 'balance>1'",
  'policy check policy.yaml',
  'policy apply policy.yaml --yes',
  'overview --check',
  'books sync',
];

describe.each([0, 1] as const)('a list that shows %d of 3 cards', rows => {
  it('is decided by nowhere: 13, and nothing is sent', async () => {
    await using world = await incompleteWorld(rows);
    for (const line of DECISIONS) {
      const { code, error } = await world.run(line);
      expect({ line, code, ...error }).toMatchObject({
        line,
        code: 13,
        kind: 'contract_mismatch',
        message: expect.stringContaining(
          `the list of cards may be incomplete: the service counts 3, but ${rows} were received`,
        ),
      });
      expect(world.service.asked).toEqual([]);
    }
  });
});

it('is shown with a warning by a command that only shows it', async () => {
  await using world = await incompleteWorld(1);
  const { code, err } = await world.run('cards list --all');
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringContaining('the list of cards.list may be incomplete: the service counts 3, but 1 were received'),
  });
});
