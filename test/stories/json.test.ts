import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_KINDS, type ErrorKind } from '../../src/core/errors.ts';
import { objections } from '../answers/schema.ts';
import { type Ran, type World, world } from '../support/world.ts';

/** Lines that fail at the parser, at the service, at a question, in a profile and at the sandbox, with the kind they fail with. */
const FAILS: readonly (readonly [line: string, kind: ErrorKind])[] = [
  ['cards list --per-page 101', 'usage'],
  ['cards get card_99', 'not_found'],
  ['cards details card_3', 'not_confirmed'],
  ['cards withdraw card_3 --amount 99999', 'refused'],
  ['profiles set team colour green', 'usage'],
  ['sandbox simulate settle txn_999', 'not_found'],
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
