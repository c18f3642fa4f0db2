/** What an agent can do with the tools, and what it cannot: bounds, intents, approvals, and never a card number. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ask } from '../support/sandbox-http.ts';
import { world } from '../support/world.ts';
import { client } from './client.ts';

const buy = (intent: string, amount = 25, more = {}) => ({ intent, amount, purpose: 'office chairs', ...more });

async function served() {
  const here = await world({ served: true, wallet: 500, env: { CARDWRIGHT_PROFILE: 'team' } });
  const login = `login --profile team --base-url ${here.sandbox.url} --key-stdin`;
  await here.run(login, { stdin: here.sandbox.key.expose(), env: { CARDWRIGHT_PROFILE: '' } });
  const cards = async () =>
    (await ask(here.sandbox, { path: '/cards' })).json.data as { id: string; balance: number }[];
  return { here, cards };
}

interface Listed {
  readonly name: string;
  readonly inputSchema: { readonly required: string[]; readonly properties: Record<string, { description?: string }> };
}

test('offers at most nine tools in 3,000 tokens, and only those that read where nothing may change', async () => {
  await using here = await world();
  const listed = async (line: string) => {
    await using agent = await client(here, line);
    return (await agent.request('tools/list')).result?.['tools'] as Listed[];
  };
  const names = (tools: readonly Listed[]) => tools.map(({ name }) => name);
  const all = await listed('--sandbox mcp --intent-prefix agent7/');
  expect(all).toHaveLength(9);
  // English in JSON has some four letters a token.
  expect(JSON.stringify(all).length / 3).toBeLessThan(3_000);
  for (const { name, inputSchema } of all.filter(each => /create|fund/.test(each.name))) {
    expect({ name, required: inputSchema.required.sort() }).toMatchObject({
      required: expect.arrayContaining(['amount', 'intent', 'purpose']),
    });
    expect(inputSchema.properties['intent']?.description).toMatch(/one purchase, one intent.*repeat.*agent7\//i);
  }
  const reading = ['wallet', 'cards_list', 'card_get', 'transactions_list', 'operation_status'];
  expect(names(await listed('--sandbox mcp --read-only --exec /bin/true'))).toEqual(reading);
  expect(names(await listed('--sandbox mcp --exec /bin/true'))).toHaveLength(10);
});

test('a line that is no message gets its error, and the next one works', async () => {
  await using here = await world();
  await using agent = await client(here, '--sandbox mcp');
  const wrong: readonly (readonly [string, number])[] = [
    ['not json', -32700],
    ['{"jsonrpc":"2.0","id":', -32700],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['"text"', -32600],
    ['null', -32600],
    ['{"jsonrpc":"1.0","id":"old","method":"ping"}', -32600],
    ['{"id":"bare","method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    [`{"jsonrpc":"2.0","id":"long","method":"${'x'.repeat(1_100_000)}"}`, -32600],
    ['{"jsonrpc":"2.0","id":"unknown","method":"cards/terminate"}', -32601],
    ['{"jsonrpc":"2.0","id":"params","method":"tools/call","params":{"name":7}}', -32602],
    ['{"jsonrpc":"2.0","id":"tool","method":"tools/call","params":{"name":"card_details","arguments":{}}}', -32602],
  ];
  for (const [line, code] of wrong) {
    agent.line(line);
    const answer = await agent.next();
    expect({ line: line.slice(0, 80), code: answer.error?.code }).toEqual({ line: line.slice(0, 80), code });
    expect((await agent.request('ping')).result).toBeDefined();
  }
  const faulty = [{}, buy('a', -1), buy('a', 5, { card: 'card_1' }), { ...buy('b'), amount: '5' }, buy('c', 0.001)];
  for (const args of faulty) {
    const { error } = await agent.call('card_create', args);
    expect({ args, error }).toMatchObject({ error: { kind: 'usage', outcome: 'not_sent' } });
  }
  // Nor is a card changed by the last four digits of its number, which a person would be asked about.
  const { id, last4 } = await agent.call('card_create', buy('one'));
  for (const card of ['--all', '-', 'card_1 --live', '../x', '', last4])
    expect(await agent.call('card_freeze', { card })).toMatchObject({ error: { kind: 'usage' } });
  expect(await agent.call('card_get', { card: id })).toMatchObject({ status: 'active' });
  expect(await agent.end()).toBe(0);
});

test('speaks the revision of 2026-07-28, which has no handshake', async () => {
  await using here = await world();
  const input = new PassThrough();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const ask = (id: number, method: string, params: object) =>
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`);
  ask(1, 'server/discover', {});
  ask(2, 'tools/call', { name: 'wallet', arguments: {} });
  input.end();
  const { code, out } = await here.run('--sandbox mcp', { input });
  const answers = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(code).toBe(0);
  expect(answers).toContainEqual(
    expect.objectContaining({ id: 1, result: expect.objectContaining({ supportedVersions: ['2026-07-28'] }) }),
  );
  expect(answers).toContainEqual(
    expect.objectContaining({ id: 2, result: expect.objectContaining({ structuredContent: expect.anything() }) }),
  );
});

test('calls beside each other never pass the bound, and a repeated one is the same purchase', async () => {
  const { here, cards } = await served();
  await using _ = here;
  await using agent = await client(here, 'mcp --max-total 100 --intent-prefix agent7/');
  expect(await agent.call('card_create', buy('order-1'))).toMatchObject({ error: { kind: 'usage' } });
  const asked = ['one', 'two', 'three', 'one', 'four', 'one'];
  const came = await Promise.all(asked.map(name => agent.call('card_create', buy(`agent7/${name}`, 40))));
  expect(came.filter(each => each['id'] !== undefined)).toHaveLength(4);
  expect(await cards()).toHaveLength(2);
  expect(came[2]).toMatchObject({ error: { kind: 'guarded', outcome: 'not_sent' } });
  expect(came[3]).toMatchObject({ id: came[0]?.['id'], intent: { repeated: true } });
  // What was refused for certain is given back.
  expect(await agent.call('card_fund', buy('agent7/lost', 15, { card: 'card_nobody' }))).toHaveProperty('error');
  const card = came[0]?.['id'];
  expect(await agent.call('card_fund', buy('agent7/more', 20, { card }))).toMatchObject({ card_id: card });
  expect(await agent.call('card_fund', buy('agent7/cent', 1, { card }))).toMatchObject({ error: { kind: 'guarded' } });
  // Another change under a name that was used is refused.
  expect(await agent.call('card_fund', buy('agent7/more', 10, { card }))).toMatchObject({ error: { kind: 'usage' } });
  expect(await agent.call('card_freeze', { card })).not.toHaveProperty('error');
  expect((await cards()).map(({ balance }) => balance).sort()).toEqual([40, 60]);
});

test('what an earlier server has done is answered as ever, whatever the bound of this one', async () => {
  const { here, cards } = await served();
  await using _ = here;
  let id: unknown;
  {
    await using first = await client(here, 'mcp --max-total 30');
    ({ id } = await first.call('card_create', buy('one')));
  }
  await using second = await client(here, 'mcp --max-total 10');
  expect(await second.call('card_create', buy('one'))).toMatchObject({ id, intent: { repeated: true } });
  expect(await second.call('card_create', buy('two'))).toMatchObject({
    error: { kind: 'guarded', outcome: 'not_sent' },
  });
  // Of what is unknown the bound says nothing either.
  const faults = [
    { match: { operation: 'cards.create' }, phase: 'after_commit', action: { kind: 'reset' } },
    { match: { operation: 'cards.list' }, action: { kind: 'status', code: 500 } },
  ];
  const path = '/_sandbox/v1/faults';
  for (const body of faults) expect((await ask(here.sandbox, { method: 'POST', path, body })).status).toBeLessThan(300);
  {
    await using first = await client(here, 'mcp --max-total 30');
    expect(await first.call('card_create', buy('lost'))).toMatchObject({ error: { outcome: 'unknown' } });
  }
  expect(await second.call('card_create', buy('lost'))).toMatchObject({ error: { outcome: 'unknown' } });
  await ask(here.sandbox, { method: 'DELETE', path });
  // It has counted nothing of it.
  expect(await second.call('card_fund', buy('three', 10, { card: id }))).toMatchObject({ card_id: id });
  expect(await cards()).toHaveLength(2);
});

test('a call that a signal ends while its purchase is made elsewhere is not said to be not sent', async () => {
  const { here, cards } = await served();
  await using _ = here;
  const action = { kind: 'hang', max_ms: 60_000 };
  const fault = { match: { operation: 'cards.create' }, phase: 'after_commit', action };
  expect((await ask(here.sandbox, { method: 'POST', path: '/_sandbox/v1/faults', body: fault })).status).toBe(201);
  const [stop, cut] = [new AbortController(), new AbortController()];
  const line = 'cards create --bin auto --amount 25 --purpose "office chairs" --intent one --yes';
  const bought = here.run(line, { signal: stop.signal, cut: cut.signal });
  while ((await cards()).length === 0) await new Promise(resolve => setImmediate(resolve));
  // It pauses while the other one holds its name.
  await using agent = await client(here, 'mcp', { signal: stop.signal, onPause: () => stop.abort() });
  const { error } = await agent.call('card_create', buy('one'));
  expect(error).toMatchObject({ outcome: 'unknown' });
  cut.abort();
  expect([0, 11]).toContain((await bought).code);
});

test('what is held waits for a person at a terminal, and no answer of the client counts', async () => {
  const { here, cards } = await served();
  await using _ = here;
  const typed = (...words: string[]) => ({ terminal: 100, typed: words });
  await here.run('profiles set team approve_above 20');
  await here.run('ops keys create', typed('correct horse', 'correct horse'));
  await using agent = await client(here, 'mcp --max-total 30');
  const held = await agent.call('card_create', buy('chairs'));
  expect(held).toMatchObject({ status: 'pending', approve: `cardwright ops approve ${held['op']}` });
  for (const words of ['office chairs', '$25.00', 'tester@desk', 'approve_above', '2026-11-21', `${held['approve']}`])
    expect(String(held['card'])).toContain(words);
  // A dialog that says yes to everything, in each form that a client has.
  const yes = { action: 'accept', content: { approve: true } };
  for (const id of [1, 'elicit-1', held['op']]) agent.line(JSON.stringify({ jsonrpc: '2.0', id, result: yes }));
  agent.line(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: {} }));
  for (const args of [{ op: held['op'], approve: true }, buy('chairs', 25, { approved: true })])
    expect(await agent.call('card_create', args)).toHaveProperty('error');
  const again = await agent.call('card_create', buy('chairs'));
  expect(again).toMatchObject({ status: 'pending', op: held['op'] });
  expect(await cards()).toEqual([]);
  // What waits is counted: nothing more fits beside it.
  expect(await agent.call('card_create', buy('tables', 10))).toMatchObject({ error: { kind: 'guarded' } });
  expect(await agent.call('operation_status', { op: held['op'] })).toMatchObject({ state: 'pending' });
  expect((await here.run(`ops approve ${held['op']}`, typed('25.00', 'correct horse'))).code).toBe(0);
  expect(await agent.call('card_create', buy('chairs'))).toMatchObject({ status: 'active', balance: 25 });
  expect(await agent.call('card_create', buy('chairs'))).toMatchObject({ intent: { repeated: true } });
  expect(await cards()).toHaveLength(1);
});

test('a program that a person has named gets the card, and the agent its exit code alone', async () => {
  await using here = await world();
  const program = join(here.folder, 'checkout.sh');
  const prints = 'echo "$CARD_NUMBER $CARD_CVV"; echo "$CARD_NUMBER" >&2; echo "$CARD_NUMBER" > card.txt; exit 3';
  await writeFile(program, `#!/bin/sh\n${prints}\n`);
  await chmod(program, 0o700);
  await using agent = await client(here, `--sandbox mcp --exec ${program}`);
  const { id } = await agent.call('card_create', buy('chairs'));
  expect(await agent.call('card_use', { card: id })).toEqual({ exit_code: 3 });
  const number = (await readFile(join(here.folder, 'card.txt'), 'utf8')).trim();
  expect(number).toMatch(/^\d{16}$/);
  await agent.call('sandbox', { do: 'challenge', card: id, amount: 5 });
  // What looks like a card number is nowhere, however it came into a text.
  await agent.call('sandbox', { do: 'purchase', card: id, amount: 5, merchant: `SHOP ${number}` });
  await agent.call('transactions_list', { card: id });
  await agent.call('card_get', { card: number });
  expect(agent.messages.join('\n')).not.toContain(number);
  expect(await agent.call('card_use', { card: 'card_nobody' })).toHaveProperty('error');
});

test('the sandbox tool loses an answer, and the same intent finds what was made', async () => {
  await using here = await world();
  await using agent = await client(here, '--sandbox mcp', { onPause: () => undefined });
  await agent.call('sandbox', { do: 'lose_next_answer' });
  const made = await agent.call('card_create', buy('once'));
  const again = await agent.call('card_create', buy('once'));
  expect(again['id']).toBe(made['id']);
  expect((await agent.call('cards_list', { per_page: 1 }))['data']).toHaveLength(1);
  const purchase = { do: 'purchase', card: made['id'], amount: 5 };
  for (const args of [{ do: 'deposit', amount: 50 }, { do: 'advance', by: '2d' }, purchase])
    expect(await agent.call('sandbox', args)).not.toHaveProperty('error');
});
