/**
 * Money and a lost answer, as a person meets it: the command, its exit code, what the sandbox was asked, and how it
 * is settled (docs/design/sandbox.md, section 5).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type World, world } from '../support/world.ts';

interface Money {
  readonly operation: string;
  readonly line: string;
  /** card_1 and the wallet after one effect. */
  readonly after: readonly [card: number, wallet: number];
}

const MONEY: readonly Money[] = [
  { operation: 'cards.create', line: 'cards create --bin bin_1 --amount 25', after: [100, 875] },
  { operation: 'cards.fund', line: 'cards fund card_1 --amount 25', after: [125, 875] },
  { operation: 'cards.withdraw', line: 'cards withdraw card_1 --amount 25', after: [75, 925] },
  { operation: 'cards.terminate', line: 'cards terminate card_1 --yes', after: [0, 1000] },
];

async function prepared(operation: string, dialect?: string): Promise<World> {
  const here = await world({ dialect });
  expect((await here.run('cards create --bin bin_1 --amount 100')).code).toBe(0);
  const rule = { match: { operation }, phase: 'after_commit', action: { kind: 'reset' }, times: 1 };
  expect((await here.run('sandbox faults add - -q', { stdin: JSON.stringify(rule) })).out).toBe('flt_1\n');
  return here;
}

async function balances(here: World): Promise<readonly [number, number]> {
  const read = async (line: string) => JSON.parse((await here.run(line)).out).balance as number;
  return [await read('cards get card_1 --json'), await read('wallet --json')];
}

const asked = (here: World, operation: string, times: number) =>
  here.run(`sandbox requests --operation ${operation} --expect ${times + (operation === 'cards.create' ? 1 : 0)}`);

describe('keys are honoured', () => {
  it.each(MONEY)('$line: found, done once', async ({ operation, line, after }) => {
    await using here = await prepared(operation);
    const ran = await here.run(`${line} --json`);
    expect([ran.code, ran.err]).toEqual([0, '']);
    expect(await balances(here)).toEqual(after);
    // It is looked for, and found, before anything is sent again.
    expect((await asked(here, operation, 1)).code).toBe(0);
    expect((await here.run('sandbox status')).code).toBe(0);
  });
});

describe('keys are ignored', () => {
  it('a card without the marker is not found, and not made again', async () => {
    await using here = await prepared('cards.create', 'keys-ignored');
    expect((await here.run('cards create --bin bin_1 --amount 25 --no-marker')).code).toBe(11);
    expect((await asked(here, 'cards.create', 1)).code).toBe(0);
  });
});

describe('the commands around it', () => {
  it('faults are listed, removed and cleared, and a wrong one names its member', async () => {
    await using here = await world();
    await writeFile(
      join(here.folder, 'rules.json'),
      JSON.stringify([
        { match: { operation: 'wallet.get' }, action: { kind: 'status', code: 503 }, times: 3 },
        { action: { kind: 'duplicate_delivery' }, match: { event: 'card.created' } },
      ]),
    );
    expect((await here.run('sandbox faults add rules.json -q')).out).toBe('flt_1\nflt_2\n');
    expect((await here.run('wallet')).code).toBe(12);
    const { data } = JSON.parse((await here.run('sandbox faults list --json')).out);
    expect(data).toMatchObject([
      { id: 'flt_1', active: false, struck: 3, meets: 'operation=wallet.get', does: 'status code=503' },
      { id: 'flt_2', active: true, phase: null, meets: 'event=card.created' },
    ]);
    expect((await here.run('sandbox faults remove flt_1')).code).toBe(0);
    expect((await here.run('sandbox faults remove flt_1')).code).toBe(5);
    expect((await here.run('sandbox faults clear --json')).out).toContain('"removed": 1');
    const wrong = async (rule: unknown) =>
      (await here.run('sandbox faults add -', { stdin: typeof rule === 'string' ? rule : JSON.stringify(rule) })).err;
    expect(await wrong('{')).toContain('standard input: line 1, column 2: not JSON');
    expect(await wrong({ action: { kind: 'truncate' } })).toContain('action.bytes is missing');
    expect(await wrong([{ action: { kind: 'reset' } }, { action: { kind: 'no' } }])).toContain('rule 2: action.kind');
    expect(await wrong({ kind: 'reset' })).toMatch(
      /action is missing: an object \{"kind": …\} with one of status, latency/,
    );
    expect(await wrong({ action: 'rest' })).toContain('Did you mean "reset"?');
    expect(await wrong({ action: { kind: 'reset' }, match: { operation: 'card.create' } })).toContain(
      'Did you mean "cards.create"?',
    );
    expect(JSON.parse((await here.run('sandbox faults list --json')).out).data).toEqual([]);
  });

  it('requests are listed without secrets, and an expectation that fails is exit 15', async () => {
    await using here = await world();
    await here.run('cards create --bin bin_1 --amount 5 --idempotency-key order-7');
    await here.run('cards details card_1 --reveal --print');
    const { out } = await here.run('sandbox requests --json --fields operation,status,card_id');
    expect(JSON.parse(out).data.slice(0, 1)).toEqual([{ operation: 'cards.details', status: 200, card_id: 'card_1' }]);
    expect((await here.run('sandbox requests --key order-7 --expect 1')).code).toBe(0);
    const failed = await here.run('sandbox requests --operation cards.terminate --expect 1');
    expect([failed.code, failed.err]).toEqual([15, expect.stringContaining('0 requests fit, 1 expected')]);
  });
});
