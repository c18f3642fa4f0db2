import { describe, expect, it } from 'vitest';
import { type World, world } from '../support/world.ts';

/** A world in which the answer to one write was lost after the work was done, and keys are worth nothing. */
async function lost(operation: string, line: string): Promise<{ readonly here: World; readonly op: string }> {
  const here = await world({ dialect: 'keys-ignored' });
  await here.run('cards create --bin bin_1 --amount 100 --label ads -q');
  const rule = { match: { operation }, phase: 'before', action: { kind: 'reset' }, times: 9 };
  await here.run('sandbox faults add - -q', { stdin: JSON.stringify(rule) });
  const ran = await here.run(`${line} --json`);
  expect(ran.code).toBe(11);
  return { here, op: JSON.parse(ran.err.trim().split('\n').at(-1) ?? '').error.op };
}

const OWN = [
  ['cards.fund', 'cards fund card_1 --amount 25'],
  ['cards.withdraw', 'cards withdraw card_1 --amount 25'],
] as const;

describe('an own row whose outcome was unknown when the books began', () => {
  it.each(OWN)('%s is no other spender once it is resolved as done', async (operation, line) => {
    const { here, op } = await lost(operation, line);
    await using _ = here;
    expect((await here.run('books reconcile --jq .verdict')).out).toBe('baseline\n');
    // A cut in between knows no more than the first one.
    expect((await here.run('books reconcile --jq .verdict')).out).toBe('balanced\n');
    await here.run(`ops resolve ${op} --as done --note 'the card shows it'`);
    const told = await here.run('books reconcile --sole-operator --json');
    expect(told.code).toBe(0);
    expect(JSON.parse(told.out)).toMatchObject({ verdict: 'balanced', findings: [], cards: [] });
    expect((await here.run('books reconcile --sole-operator --jq .verdict')).out).toBe('balanced\n');
  });

  it('is no excuse for money that left later', async () => {
    const { here, op } = await lost('cards.fund', 'cards fund card_1 --amount 25');
    await using _ = here;
    await here.run('books reconcile');
    await here.run(`ops resolve ${op} --as done --note 'the card shows it'`);
    const env = { CARDWRIGHT_CONFIG_DIR: `${here.folder}/elsewhere` };
    await here.run('cards withdraw card_1 --amount 7 --yes', { env });
    const told = JSON.parse((await here.run('books reconcile --sole-operator --json')).out);
    expect(told.findings).toMatchObject([{ class: 'other_withdrew', candidates: ['card_1'], amount: -7 }]);
  });
});

it('an own row that the sums showed to be undone, resolved as done all the same, is named as that', async () => {
  await using here = await world({ dialect: 'keys-ignored' });
  await here.run('cards create --bin bin_1 --amount 100 --label ads -q');
  await here.run('books reconcile');
  const rule = { match: { operation: 'cards.fund' }, phase: 'before', action: { kind: 'reset' }, times: 1 };
  await here.run('sandbox faults add - -q', { stdin: JSON.stringify(rule) });
  const ran = await here.run('cards fund card_1 --amount 25 --json');
  const { op } = JSON.parse(ran.err.trim().split('\n').at(-1) ?? '').error;
  expect((await here.run('books reconcile --jq .verdict')).out).toBe('balanced\n');
  await here.run(`ops resolve ${op} --as done --note 'believed'`);
  const told = await here.run('books reconcile --json');
  expect(told.code).toBe(15);
  expect(JSON.parse(told.out).findings).toMatchObject([
    { class: 'done_without_effect', candidates: ['card_1'], amount: -25, rows: [`${op}.1`] },
  ]);
});
