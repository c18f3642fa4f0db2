import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Command, commandsOf } from '../../src/cli/parsing/command.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { ERROR_KINDS, type ErrorKind } from '../../src/core/errors.ts';
import { objections, pathOf } from '../answers/schema.ts';
import { type Ran, type World, world } from '../support/world.ts';

/** Commands that give no one answer in JSON, or whose words have stories of their own elsewhere. */
const ELSEWHERE =
  /^(contract|journal|ops|commands|completion|explain|doctor|approvals|audit|api|help|wait|schema|books|policy|fleet)\b|^sandbox (?!status|reset|simulate)|^sandbox simulate run\b|^cards (exec|lease)\b|^webhooks (listen|verify|sign|expect|events)\b|^3ds (wait|watch)\b|^(cards|tx) search\b|^tx (tail|summary)\b/;

const commands = async (): Promise<readonly Command[]> => {
  const loaded = await Promise.all(REGISTRY.map(commandsOf));
  return loaded.flat().filter(({ path }) => !ELSEWHERE.test(path));
};

/** For each command a line that works in the demo data, in an order in which one prepares the next. */
const WORKS: readonly string[] = [
  'cards create --bin auto --amount 25',
  'cards list',
  'cards get card_3',
  'cards details card_3 --reveal --print',
  'cards fund card_3 --amount 5',
  'cards withdraw card_3 --amount 5',
  'cards freeze card_3',
  'cards unfreeze card_3',
  'cards terminate card_8 --yes',
  'bins list',
  'bins get bin_1',
  'bins pick',
  'wallet',
  'wallet addresses',
  'tx list',
  'tx get txn_1',
  'tx chart --by month',
  'overview',
  '3ds list',
  'webhooks create --url https://example.com/hook --event card.created',
  'webhooks list',
  'webhooks get wh_1',
  'webhooks update wh_1 --status disabled',
  'webhooks delete wh_1 --yes',
  'profiles list',
  'profiles show team',
  'profiles use team',
  'profiles set team read_only true',
  'whoami',
  'profiles remove team --yes',
  'logout --profile default --yes',
  'sandbox status',
  'sandbox simulate authorize --card card_3 --amount 3',
  'sandbox simulate settle txn_27',
  'sandbox simulate refund txn_27',
  'sandbox simulate authorize --card card_3 --amount 4',
  'sandbox simulate reverse txn_30',
  'sandbox simulate challenge --card card_3 --amount 4',
  'sandbox simulate answer tds_2 --right',
  'sandbox simulate deposit --currency btc --amount 10',
  'sandbox simulate confirm dep_3',
  'sandbox simulate authorize --card card_3 --amount 4',
  'sandbox simulate increment txn_31 --amount 1',
  'sandbox simulate expire txn_31',
  'sandbox simulate force-post --card card_3 --amount 1',
  'sandbox simulate challenge --card card_3 --amount 4',
  'sandbox simulate cancel tds_3',
  'sandbox simulate deposit --currency btc --amount 10',
  'sandbox simulate fail dep_4',
  'sandbox simulate record',
  'sandbox reset --yes',
];

/** For each command a line that fails, with the kind it fails with. */
const FAILS: readonly (readonly [line: string, kind: ErrorKind])[] = [
  ['cards create --bin bin_1 --amount 0.99', 'usage'],
  ['cards list --per-page 101', 'usage'],
  ['cards get card_99', 'not_found'],
  ['cards details card_3', 'not_confirmed'],
  ['cards fund card_3 --amount 99999', 'usage'],
  ['cards withdraw card_3 --amount 99999', 'refused'],
  ['cards freeze card_1', 'refused'],
  ['cards unfreeze card_99', 'not_found'],
  ['cards terminate card_3', 'not_confirmed'],
  ['bins list --fields colour', 'usage'],
  ['bins get bin_99', 'not_found'],
  ['bins pick --min-transaction 999999', 'not_found'],
  ['wallet --columns colour', 'usage'],
  ['wallet addresses --currency doge', 'usage'],
  ['tx list --type chargeback', 'usage'],
  ['tx get txn_999', 'not_found'],
  ['tx chart --by year', 'usage'],
  ['overview --since 400d', 'usage'],
  ['3ds list --amount nothing', 'usage'],
  ['webhooks create --url ftp://example.com --event card.created', 'usage'],
  ['webhooks list surplus', 'usage'],
  ['webhooks get wh_99', 'not_found'],
  ['webhooks update wh_99 --status disabled', 'not_found'],
  ['webhooks delete wh_99', 'not_confirmed'],
  ['profiles list surplus', 'usage'],
  ['profiles show nobody', 'not_found'],
  ['profiles use nobody', 'not_found'],
  ['profiles set team colour green', 'usage'],
  ['profiles remove nobody --yes', 'not_found'],
  ['whoami --profile nobody', 'not_found'],
  ['login --base-url https://api.example.com/v1', 'usage'],
  ['logout --profile nobody', 'not_found'],
  ['sandbox status surplus', 'usage'],
  ['sandbox reset', 'not_confirmed'],
  ['sandbox simulate authorize --card card_99 --amount 3', 'not_found'],
  ['sandbox simulate settle txn_999', 'not_found'],
  ['sandbox simulate refund txn_999', 'not_found'],
  ['sandbox simulate reverse txn_999', 'not_found'],
  ['sandbox simulate challenge --card card_99 --amount 4', 'not_found'],
  ['sandbox simulate answer tds_99 --right', 'not_found'],
  ['sandbox simulate deposit --currency doge --amount 10', 'usage'],
  ['sandbox simulate confirm dep_99', 'not_found'],
  ['sandbox simulate increment txn_999 --amount 1', 'not_found'],
  ['sandbox simulate expire txn_999', 'not_found'],
  ['sandbox simulate force-post --card card_99 --amount 1', 'not_found'],
  ['sandbox simulate cancel tds_99', 'not_found'],
  ['sandbox simulate record --after -1', 'usage'],
  ['sandbox simulate fail dep_99', 'not_found'],
];

const LOGIN = 'login --key-stdin --base-url https://api.example.com/v1';

async function prepared() {
  const here = await world({ data: 'demo' });
  for (const name of ['default', 'team']) {
    await here.run(`${LOGIN} --profile ${name}`, { stdin: 'sk_test_0123456789abcdef\n' });
  }
  return here;
}

function expectFailure({ code, out, err }: Ran, kind: ErrorKind): void {
  expect(out).toBe('');
  const last = err.trimEnd().split('\n').at(-1) ?? '';
  const { error } = JSON.parse(last) as { error: Record<string, unknown> };
  expect(objections('error', JSON.parse(last))).toEqual([]);
  expect(error).toMatchObject({ kind, exit_code: ERROR_KINDS[kind].exit, message: expect.any(String) });
  expect(code).toBe(ERROR_KINDS[kind].exit);
}

describe('--json', () => {
  test('the lists below name every command of the product', async () => {
    for (const { path } of await commands()) {
      const covers = (line: string) => line === path || line.startsWith(`${path} `);
      expect([...WORKS, LOGIN].some(covers), `put a line of ${path} into WORKS`).toBe(true);
      expect(
        FAILS.some(([line]) => covers(line)),
        `put a line of ${path} into FAILS`,
      ).toBe(true);
    }
  });

  test('stdout of each command is one JSON document when it works', async () => {
    await using here = await prepared();
    for (const line of WORKS) {
      const { code, out, err } = await here.run(`${line} --json`);
      expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
      expect({ line, objections: objections(pathOf(line), JSON.parse(out)) }).toEqual({ line, objections: [] });
    }
  });

  describe('and of one that fails', () => {
    // None of them changes anything: one world serves all.
    let here: World;
    beforeAll(async () => {
      here = await prepared();
    });
    afterAll(() => here[Symbol.asyncDispose]());

    test.each(FAILS)('%s', async (line, kind) => {
      expectFailure(await here.run(`${line} --json`), kind);
      expectFailure(await here.run(`${line} -o ndjson`), kind);
    });
  });

  test('yaml, ndjson and csv of the lists are whole as well', async () => {
    await using here = await prepared();
    const rows = JSON.parse((await here.run('tx list --all --json')).out) as { data: unknown[] };
    const lines = (await here.run('tx list --all -o ndjson')).out.trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line) as unknown)).toEqual(rows.data);
    const tsv = (await here.run('tx list --all')).out.trimEnd().split('\n');
    expect(tsv).toHaveLength(rows.data.length);
    expect(new Set(tsv.map(line => line.split('\t').length)).size).toBe(1);
  });

  test('an override file that cannot be used is a JSON error too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cardwright-overrides-'));
    const file = join(folder, 'broken.json');
    await writeFile(file, '{');
    await using here = await world();
    expectFailure(await here.run(`wallet --json --contract ${file}`), 'usage');
    await rm(folder, { recursive: true });
  });
});
