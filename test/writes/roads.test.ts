/**
 * The same refusal down every road to the pipeline: one command, several ids, a file, a selection, a raw request, a
 * lease and a resume leave the same words in the audit log, the same journal, and end with the same exit code.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { type ServiceWorld, serviceWorld } from '../bulk/service-world.ts';
import { opsIn } from '../support/journal-file.ts';
import { isWhole } from '../support/whole.ts';

interface Line {
  readonly event: string;
  readonly operation: string;
  readonly outcome?: string;
  readonly kind?: string;
  readonly reason?: string;
  readonly of?: number;
  readonly seq: number;
  readonly row?: number;
  readonly rows?: number;
  readonly card_id?: string;
}

let here: ServiceWorld;
let refused = 0;
const env = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '', CARDWRIGHT_PROFILE: 'team' };
// The look for what may be behind waits longest (A-170).
const run = (line: string) => here.run(line, { env, onPause: () => undefined, longestPause: READ_LAG });
const lines = async () =>
  (JSON.parse((await run('audit list --all --json')).out) as { data: Line[] }).data.toReversed();
const ops = () => opsIn(join(here.folder, 'state'));

beforeAll(async () => {
  here = await serviceWorld({ wallet: 1000 });
  const login = `login --profile team --base-url ${here.proxy.url} --key-stdin`;
  const given = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '' };
  expect((await here.run(login, { stdin: `${here.key}\n`, env: given })).code).toBe(0);
  for (const label of ['one', 'two']) await run(`cards create --bin bin_1 --amount 5 --label ${label}`);
  await writeFile(join(here.folder, 'fund.csv'), 'card_id,amount\ncard_1,25\n');
  await writeFile(join(here.folder, 'ends.csv'), 'card_id\ncard_1\ncard_2\n');
});
afterAll(() => here[Symbol.asyncDispose]());

/** A run whose second row is still to be sent: its first one was refused for the key. */
async function openOp(amount: number): Promise<string> {
  refused += 1;
  // Another input each time: the same one would be a twin.
  await writeFile(join(here.folder, 'open.csv'), `card_id,amount\ncard_1,${refused}\ncard_2,${amount}\n`);
  here.proxy.fail('POST', /fund$/, 'unauthorized');
  const { err } = await run('cards fund --file open.csv --yes --concurrency 1');
  return /op_\w{26}/.exec(err)?.[0] ?? '';
}

const MONEY = {
  'one command': 'cards fund card_1 --amount 25',
  'a file': 'cards fund --file fund.csv --yes',
  'a selection': 'cards fund --where label=one --amount 25 --yes',
  'a raw request': 'api POST /cards/card_1/fund -F amount:=25',
  'a lease': 'cards lease --amount 25 --reveal --yes -- true',
} as const;

/** Where one refusal has gone down every road, another one goes down these. */
const FEW: ReadonlySet<string> = new Set(['one command', 'several ids', 'a resume']);

/** What became of the change as a whole, or of its only row: the last line that says so. */
async function lastOutcome(since: number) {
  const added = (await lines()).slice(since);
  const { outcome, kind, reason, of } = added.findLast(({ event, of }) => event === 'outcome' && of) ?? ({} as Line);
  const begun = added.find(({ seq }) => seq === of);
  return { begun: begun?.operation, outcome, kind, reason };
}

describe('refused before anything is sent', () => {
  const EVERY = { ...MONEY, 'several ids': 'cards terminate card_1 card_2', 'a resume': 'resume' } as const;
  const refusals = [
    ['a guard', { flags: '--live other', setting: undefined }, [14, 'guarded', 'another_profile']],
    ['a limit', { flags: '', setting: 'max_per_call' }, [14, 'guarded', 'max_per_call']],
  ] as const;
  describe.each(refusals)('%s', (name, { flags, setting }, [code, kind, reason]) => {
    const roads = Object.entries(EVERY).filter(([road]) =>
      setting === undefined ? isWhole || FEW.has(road) : road !== 'several ids',
    );
    test.each(roads)('%s', async (_road, line) => {
      const op = line === 'resume' ? await openOp(25) : undefined;
      if (setting !== undefined) await run(`profiles set team ${setting} 10`);
      const [own = '', program] = (op === undefined ? line : `ops resume ${op}`).split(' -- ');
      const since = (await lines()).length;
      const before = { ops: ops(), posts: here.proxy.posts().length };
      const ran = await run(`${own} ${flags}${program === undefined ? '' : ` -- ${program}`}`);
      if (setting !== undefined)
        await here.run(`profiles set team ${setting} none`, { env, terminal: 100, typed: ['team'] });
      expect({ code: ran.code, name }, ran.err).toMatchObject({ code });
      const operation = /lease/.test(line) ? 'cards.create' : /terminate/.test(line) ? 'cards.terminate' : 'cards.fund';
      expect(await lastOutcome(since)).toEqual({ begun: operation, outcome: 'not_sent', kind, reason });
      expect({ ops: ops(), posts: here.proxy.posts().length }).toEqual(before);
      if (op !== undefined) expect((await run(`ops resolve ${op} --as not-done --note test`)).code).toBe(0);
    });
  });

  test.each([
    ['one command', 'cards terminate card_1', 1],
    ['several ids', 'cards terminate card_1 card_2', 2],
    ['a file', 'cards terminate --file ends.csv', 2],
    ['a selection', 'cards terminate --where label=one', 1],
    ['a raw request', 'api POST /cards/card_1/terminate', 1],
    ['a lease', 'cards lease --amount 25 --reveal -- true', 1],
  ])('a question that nobody answers: %s', async (road, line, rows) => {
    const since = (await lines()).length;
    const before = { ops: ops(), posts: here.proxy.posts().length };
    const ran = await run(line);
    expect(ran.code, ran.err).toBe(3);
    const begun = road === 'a lease' ? 'cards.create' : 'cards.terminate';
    const why = { outcome: 'not_sent', kind: 'not_confirmed', reason: 'nobody_to_ask' };
    expect(await lastOutcome(since)).toEqual({ begun, ...why });
    const [first] = (await lines()).slice(since);
    expect(first?.rows ?? 1).toBe(rows);
    expect({ ops: ops(), posts: here.proxy.posts().length }).toEqual(before);
  });
});
