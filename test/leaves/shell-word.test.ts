import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellQuote, shellWord } from '../../src/core/shell-quote.ts';
import { json, serve } from '../client/served.ts';
import { requires } from '../support/programs.ts';
import { world } from '../support/world.ts';

const SHELLS = ['sh', 'bash', 'zsh', 'fish'].filter(name => name === 'sh' || requires(name) === undefined);

test.each(SHELLS)('%s reads each word back as it was, and runs nothing', shell => {
  const pieces = fc.constantFrom(
    'a',
    "'",
    '"',
    '$(touch x)',
    '`',
    '\\',
    ';',
    ' ',
    '\n',
    '*',
    '~',
    '-',
    '!',
    '&',
    '#',
    '=ls',
    '%self',
    '\u202e',
    'é',
  );
  const words = fc.sample(
    fc.array(pieces, { maxLength: 6 }).map(parts => parts.join('')),
    { numRuns: 200, seed: 7 },
  );
  for (const quote of [shellWord, shellQuote]) {
    const line = `printf '%s\\0' ${words.map(quote).join(' ')}`;
    const read = execFileSync(shell, ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1);
    expect(read).toEqual(words);
  }
  expect(shellWord('card_1')).toBe('card_1');
});

test('an id of the service is no shell command in what is proposed to be copied', async () => {
  const id = 'card_1; touch hacked #';
  let wallet = 100;
  await using service = await serve((request, response) => {
    if (request.method === 'POST') wallet -= 5;
    if (request.url?.includes('wallet')) return json(response, 200, { balance: wallet, currency: 'USD' });
    return json(response, 200, {
      id,
      bin_id: 'bin_1',
      last4: '4242',
      status: 'active',
      balance: 5,
      // By the clock of the service, which its answers tell: without it nothing shows that this create made the card.
      created_at: new Date().toISOString(),
    });
  });
  await using here = await world({ terminal: 100 });
  const { env } = service;
  const { code, err } = await here.run('cards create --bin bin_1 --amount 5', { env });
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining(`details '${id}'`) });
  const asked = await here.run(`cards terminate '${id}'`, { env, terminal: 100, stdin: '' });
  expect(asked.err).toContain(`cards terminate '${id}' --yes`);
  const gate = await here.run(`cards details '${id}'`, { env, stdin: '' });
  expect(gate.err).toContain(`cards details '${id}' --reveal`);
  expect(gate.err).toContain(`cards exec '${id}' --reveal`);
});
