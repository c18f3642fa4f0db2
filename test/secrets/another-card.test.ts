/**
 * A service that answers with the number of another card. The last four digits are compared with the card that was
 * asked for, wherever the number goes, and what does not fit is shown to nobody.
 */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CARD, json, type Served, serve, WALLET } from '../client/served.ts';
import { fakeXclip } from '../support/fake-clipboard.ts';
import { world } from '../support/world.ts';

const OTHER = '4000009471306822';
const OWN = '4539148803436467';
const DETAILS = { cvv: '739', exp_month: 11, exp_year: 2029 };

let number = OTHER;
/** The card as it was made, and later terminated; undefined while it is as it was before. */
let now: object | undefined;
let service: Served;
beforeAll(async () => {
  service = await serve(({ method, url, body }, response) => {
    const card = { ...CARD, id: 'card_1', last4: '6467', balance: 5, created_at: new Date().toISOString() };
    if (url.includes('/details')) json(response, 200, { ...DETAILS, number });
    else if (url.includes('/wallet')) json(response, 200, WALLET);
    else if (url.includes('/bins'))
      json(response, 200, { data: [{ id: 'bin_1', network: 'visa', max_monthly: 9000 }] });
    else if (method === 'POST' && url.endsWith('/cards')) {
      const { amount, ...asked } = JSON.parse(body) as Record<string, unknown>;
      now = { ...card, ...asked, balance: amount };
      json(response, 201, now);
    } else if (url.includes('/terminate')) {
      now = { ...card, ...now, status: 'terminated', balance: 0 };
      json(response, 200, now);
    } else if (/\/cards(?:\?|$)/.test(url)) json(response, 200, { data: [card], page: 1, total: 1 });
    else json(response, 200, now ?? card);
  });
});
afterAll(() => service.close());

const LINES = [
  'cards details card_1 --reveal --print',
  'cards details card_1 --reveal --print --field number',
  'cards details card_1 --reveal --print --field cvv',
  'cards details card_1 --reveal --print --json',
  'cards details card_1 --reveal --out card.json',
  'cards details card_1 --reveal --copy number',
  'cards exec card_1 --reveal -- sh -c "env > child.txt"',
  'cards lease --amount 5 --bin bin_1 --reveal --yes -- sh -c "env > child.txt"',
] as const;

it.each(LINES)('%s', async line => {
  await using here = await world();
  await fakeXclip(here.folder);
  const env = { ...service.env, DISPLAY: ':0' };
  number = OTHER;
  // The look for what became of a lease ends at once, as the wait before the clipboard is cleared does.
  const passing = line.includes('lease') ? { onPause: () => undefined } : { hurried: true };
  const { code, out, err, all } = await here.run(line, { env, programFolders: [here.folder], ...passing });
  expect({ code, out }).toEqual({ code: 13, out: '' });
  expect(err).toContain('the number in the answer does not end in 6467, as card_1 does');
  expect(all).not.toMatch(/6822|4000|739\b/);
  expect((await readdir(here.folder)).filter(name => /^(?:card\.json|child\.txt|board)$/.test(name))).toEqual([]);
  const told = (await here.run('audit list --json', { env })).out;
  expect(told).toContain('"outcome": "contract_mismatch"');
  number = OWN;
  if (line.includes('details'))
    expect((await here.run(line, { env, programFolders: [here.folder], hurried: true })).code).toBe(0);
});
