import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Command, commandsOf } from '../../src/cli/parsing/command.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { ERROR_KINDS, type ErrorKind } from '../../src/core/errors.ts';
import { objections } from '../answers/schema.ts';
import { type Ran, type World, world } from '../support/world.ts';

/** Commands that give no one answer in JSON, or whose words have stories of their own elsewhere. */
const ELSEWHERE =
  /^(agent|mcp|contract|journal|ops|commands|completion|explain|doctor|approvals|audit|api|help|wait|schema|books|policy|fleet)\b|^sandbox (?!status|reset|simulate)|^sandbox simulate run\b|^cards (exec|lease)\b|^webhooks (listen|verify|sign|expect|events)\b|^3ds (wait|watch)\b|^(cards|tx) search\b|^tx (tail|summary)\b/;

const commands = async (): Promise<readonly Command[]> => {
  const loaded = await Promise.all(REGISTRY.map(commandsOf));
  return loaded.flat().filter(({ path }) => !ELSEWHERE.test(path));
};

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
  test('the list above names every command of the product', async () => {
    for (const { path } of await commands())
      expect(
        FAILS.some(([line]) => line === path || line.startsWith(`${path} `)),
        `put a line of ${path} into FAILS`,
      ).toBe(true);
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
    });

    test('as rows of JSON it is an error too', async () =>
      expectFailure(await here.run('cards get card_99 -o ndjson'), 'not_found'));
  });
});
