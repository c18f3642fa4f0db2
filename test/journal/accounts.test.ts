/** What was found about one account's keys, and what is kept of its operations, is never another account's. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { type Account, capabilitiesIn, capabilityOf } from '../../src/journal/idempotency-support.ts';
import { random } from '../support/clocks.ts';
import { type Bench, bench, createRow, fundRow, planOf } from './bench.ts';

const honoured = { key: 'honoured', ttl_ms: null, at: 5 } as const;
const account: Account = { origin: 'https://a.example/v1', mode: 'test', keyPrint: '1a2b3c4d' };

describe('what keys are worth', () => {
  async function kept(text?: string) {
    const folder = await mkdtemp(join(tmpdir(), 'cardwright-worth-'));
    const path = join(folder, 'capabilities.json');
    if (text !== undefined) await writeFile(path, text, { mode: 0o600 });
    const capabilities = capabilitiesIn(folder, { platform: process.platform, random, warn: () => undefined });
    return { capabilities, path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  }

  test('is known of the account that was probed, and of no other address, mode, key or operation', async () => {
    await using file = await kept();
    await file.capabilities.remember(account, { 'cards.fund': honoured });
    const worth = (other: Partial<Account>, operation: 'cards.fund' | 'cards.withdraw' = 'cards.fund') =>
      capabilityOf({ capabilities: file.capabilities }, { ...account, ...other }, operation);
    expect(await worth({})).toEqual(honoured);
    expect(await worth({}, 'cards.withdraw')).toEqual({ key: 'unknown' });
    for (const other of [{ origin: 'https://b.example/v1' }, { mode: 'live' }, { keyPrint: '00000000' }] as const) {
      expect(await worth(other), JSON.stringify(other)).toEqual({ key: 'unknown' });
    }
    await file.capabilities.remember({ ...account, keyPrint: '99999999' }, { 'cards.fund': { key: 'unknown' } });
    expect(await worth({})).toEqual(honoured);
    // Written by hand: a live key is not probed, so nothing can be known of it.
    await writeFile(file.path, (await readFile(file.path, 'utf8')).replaceAll('"test"', '"live"'));
    expect(await worth({ mode: 'live' })).toEqual({ key: 'unknown' });
  });

  test('an older file says for an address alone what was found: that is not known any more', async () => {
    const old = { version: 1, origins: { [account.origin]: { 'cards.fund': honoured } } };
    await using file = await kept(JSON.stringify(old));
    expect(await file.capabilities.of(account, 'cards.fund')).toEqual({ key: 'unknown' });
    await file.capabilities.remember(account, { 'cards.fund': honoured });
    expect(await file.capabilities.of(account, 'cards.fund')).toEqual(honoured);
  });

  test.each([
    '{"origins":null}',
    '{"version":2}',
    '{"version":2,"accounts":null}',
    '{"version":2,"accounts":[null]}',
    '{"version":2,"accounts":[{"origin":"a","mode":"test","key_print":"1","operations":{"cards.fund":"honoured"}}]}',
    '{"version":2,"accounts":[{"origin":"a","mode":"test","key_print":"1","operations":{"cards.fund":{"key":"honoured","at":1}}}]}',
    'null',
    '3',
    '{',
    '',
  ])('%s cannot be understood: 15, and how to go on', async text => {
    await using file = await kept(text);
    await expect(file.capabilities.of(account, 'cards.fund')).rejects.toMatchObject({ kind: 'check_failed' });
  });
});

test('a live fund is sent once, whatever was found before', async () => {
  await using b = await bench({ mode: 'live', capability: honoured });
  const card = await made(b);
  b.proxy.fail('POST', /\/fund$/, 'drop-after');
  const run = await b.journal.begin(planOf([fundRow(card)], { command: 'cards fund' }));
  expect(await run.perform(1)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  await using resumed = await b.journal.resume(run.op);
  expect(await resumed.perform(1)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts().filter(({ path }) => path.endsWith('/fund'))).toHaveLength(1);
});

async function made(b: Bench): Promise<string> {
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  const { cardId = '' } = await run.perform(1);
  await run.finish();
  return cardId;
}

describe('without the random value that prints of keys are made with', () => {
  /** A create whose answer never came. */
  async function doubtful(): Promise<{ b: Bench; op: string; salt: string }> {
    const b = await bench({ stripKeys: true });
    b.proxy.fail('POST', /\/cards$/, 'drop-before');
    const run = await b.journal.begin(planOf([createRow(b.bin)]));
    await run.perform(1);
    await run[Symbol.asyncDispose]();
    return { b, op: run.op, salt: join(b.folder, 'ops', 'salt') };
  }

  test.each(['gone', 'damaged', 'empty'])('%s: nothing is taken up again and nothing is begun', async how => {
    const { b, op, salt } = await doubtful();
    await using _ = b;
    if (how === 'gone') await rm(salt);
    else await writeFile(salt, how === 'empty' ? '' : 'something else');
    const posts = b.proxy.posts().length;
    const other = planOf([createRow(b.bin, 1, cents(700))]);
    for (const sending of [() => b.journal.resume(op, { resendAbsent: true }), () => b.journal.begin(other)]) {
      const error = await sending().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        exitCode: 14,
        facts: { outcome: 'not_sent' },
        message: expect.stringContaining(salt),
      });
    }
    expect(b.proxy.posts()).toHaveLength(posts);
  });

  test('it goes on when everything is settled by hand', async () => {
    const { b, op, salt } = await doubtful();
    await using _ = b;
    await rm(salt);
    await b.journal.resolve({ op, as: 'not-done', note: 'no such card' });
    expect(await made(b)).toBe('card_1');
    expect(await readFile(salt, 'utf8')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('an operation that was copied from another user is not sent', async () => {
    const { b, op } = await doubtful();
    await using _ = b;
    await using other = await bench();
    await cp(join(b.folder, 'ops', op), join(other.folder, 'ops', op), { recursive: true });
    // Even where it seems to have been begun at the same address.
    const journal = other.another({ origin: b.proxy.url });
    await expect(journal.resume(op, { resendAbsent: true })).rejects.toMatchObject({ exitCode: 14 });
    expect(other.proxy.posts()).toEqual([]);
  });
});
