/**
 * Every place in which a service repeats what it was sent. How numbers are recognised does not depend on where they stand:
 * one place is tried with more of them, and in the full run each with all.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CARD, json, type Seen, type Served, serve, WALLET } from '../client/served.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';

const KEY = 'sk_test_ECHOED5b1f7c9d2e4a6b8c';
const NUMBER = '4000009471306822';
const FULL_WIDTH = [...NUMBER].map(digit => String.fromCodePoint(0xff10 + Number(digit))).join('');
const grouped = (by: string) => NUMBER.replace(/(\d{4})(?=\d)/g, `$1${by}`);

/** A few ways a number may be written that a person still reads as one. */
const FEW_NUMBERS = [NUMBER, FULL_WIDTH, `PAN${NUMBER}`, ...[' ', '-', '\u00a0'].map(grouped)] as const;
/** Every way. */
const NUMBERS = [
  ...FEW_NUMBERS,
  `x${NUMBER}y`,
  ...['.', '_', '·', '\u2007', '\u202f', '\u2011', '  '].map(grouped),
  `(400 ${NUMBER} 12)`,
] as const;

/** Letters and digits alone, as a person or a program would read them. */
const flat = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\[redacted\]/g, '|')
    .replace(/[^a-z0-9|]/g, '');
const leaks = (text: string) => [NUMBER, KEY].filter(each => flat(text).includes(flat(each)));

type Answer = (response: ServerResponse, seen: Seen, number: string) => void;

const page = (title: string) => `<!doctype html><html><head><title>${title}</title></head><body>no</body></html>`;
const html = (response: ServerResponse, status: number, title: string) =>
  void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(page(title));
const encoded = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

const ANSWERS: Readonly<Record<string, Answer>> = {
  'a page that quotes': (response, { headers }, number) => html(response, 502, `${headers.authorization} ${number}`),
  'a page that refuses': (response, { headers }, number) => html(response, 403, `no${headers.authorization}:${number}`),
  'a redirect': (response, _seen, number) =>
    void response
      .writeHead(302, {
        location: `https://${KEY.replaceAll('_', '-')}.${KEY}.x${encoded(number.replace(/\s/g, '-'))}.example.com/`,
      })
      .end(),
  'a request id': (response, _seen, number) =>
    json(response, 500, { error: 'broken', message: 'no', code: 500 }, { 'x-request-id': encoded(`${KEY} ${number}`) }),
  'an identifier': (response, { headers }, number) =>
    json(response, 400, {
      error: `bad_${number}_${headers.authorization}`,
      message: `${headers.authorization} ${number}`,
      code: 400,
      request_id: `${number}${KEY}`,
    }),
  'an encoding': (response, _seen, number) =>
    void response
      .writeHead(200, {
        'content-encoding': encoded(`${number} ${KEY}`).slice(0, 60),
        'content-type': 'application/json',
      })
      .end('{}'),
};

let answer: Answer | undefined;
let number: string = NUMBER;
let service: Served;

async function open(): Promise<void> {
  service = await serve((seen, response) => {
    const { method, url } = seen;
    if (answer !== undefined && method === 'POST') answer(response, seen, number);
    else if (url.includes('/wallet')) json(response, 200, WALLET);
    else if (url.includes('/bins')) json(response, 200, { data: [{ id: 'bin_1', network: 'visa', type: 'prepaid' }] });
    else if (/\/cards(?:\?|$)/.test(url)) json(response, 200, { data: [CARD], page: 1, total: 1 });
    else json(response, 200, CARD);
  });
}

/** Every byte below a folder that holds what must not be kept. */
async function kept(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile() && entry.name !== 'rows.csv');
  const found: string[] = [];
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    if (leaks(await readFile(path, 'utf8')).length > 0) found.push(path.slice(folder.length));
  }
  return found;
}

/** Answers that quote, each with its numbers: nothing of them stays. */
function leaveNothing(tries: readonly (readonly [name: string, numbers: readonly string[]])[]): void {
  beforeAll(open);
  afterAll(() => service.close());

  it.each(tries)('%s leaves nothing of the key and the number', async (name, tried) => {
    await using here = await world();
    const env = { CARDWRIGHT_PROFILE: '', CARDWRIGHT_API_KEY: KEY, CARDWRIGHT_BASE_URL: service.baseUrl };
    const found: unknown[] = [];
    const run = async (line: string) => {
      // Looks for what a refusal may hide are far apart.
      const { all } = await here.run(line, { env, onPause: () => undefined, longestPause: 10_000 });
      if (leaks(all).length > 0) found.push({ number, line, all });
      return all;
    };
    for (const [index, each] of tried.entries()) {
      number = each;
      // Another amount, for what may have happened is not asked for twice.
      const amount = index + 1;
      await writeFile(join(here.folder, 'rows.csv'), `bin_id,amount\nbin_1,${amount}\n`);
      answer = ANSWERS[name];
      await run(`cards create --bin bin_1 --amount ${amount} --json`);
      await run(`api POST /boosts -F amount:=${amount} --debug --yes`);
      if (index === 0) await run('cards freeze card_1 --debug');
      await run(`cards create --file rows.csv --yes --json`);
      answer = undefined;
    }
    const ops = (await run('ops list -o id')).split('\n').filter(id => id.startsWith('op_'));
    expect(ops.length).toBeGreaterThan(tried.length);
    for (const op of ops) await run(`ops show ${op} --json`);
    for (const op of ops.slice(0, 4)) await run(`ops show ${op}`);
    await run('audit list --json');
    found.push(...(await kept(here.folder)).map(path => ({ path })));
    expect(found).toEqual([]);
  });
}

leaveNothing(
  Object.keys(ANSWERS).map(name => [
    name,
    isWhole ? NUMBERS : name === 'an identifier' ? FEW_NUMBERS : FEW_NUMBERS.slice(0, 1),
  ]),
);
