/** Every transcript through Prism: the sandbox answers, and the client sends, nothing but what the documents allow. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../src/contract/operations.ts';
import { ADMIN_PATH } from '../../../src/contract/sandbox/basis.ts';
import { TRANSFERS } from '../../../src/contract/sandbox/snapshots.ts';
import { startSandbox } from '../../../src/sandbox/serving/start.ts';
import { type Asked, ask } from '../../support/sandbox-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTranscript } from '../../support/transcript.ts';
import { DOCUMENTS } from './installed.ts';
import { type Proxied, proxied } from './proxied.ts';

const stories = join(import.meta.dirname, '..', '..', 'transcripts');

/** What a transcript is about, where Prism must have something against it. */
const AGAINST: Readonly<Record<string, RegExp>> = {
  'api/raw-requests.md': /^PATCH \/v1\/cards\/card_1 405: .*NO_METHOD_MATCHED_ERROR/,
  'run/another-route.md': /^GET \/v1\/history 404: .*NO_PATH_MATCHED_ERROR/,
};
/** What Prism hides behind its own, so that the story is another one: it is played by the transcripts' own test alone. */
const HIDDEN: Readonly<Record<string, string>> = {
  'fleet/lost-answer.md': 'an answer that never comes',
  'books/a-month-of-life.md': 'an answer that never comes',
};
/** Printed otherwise behind a proxy, where ids of operations and of requests are drawn in another order: judged by what is sent alone. */
// Prism passes the bytes of a snapshot on as text, so it is refused behind it.
const PRINTED_OTHERWISE = new Set([
  'books/derived-lines.md',
  'books/first-copy.md',
  'policy/idle-cards.md',
  'run/short-ids.md',
  'sandbox/snapshots.md',
]);
const names = (await readdir(stories, { recursive: true })).filter(name => name.endsWith('.md') && !(name in HIDDEN));

let prism: Proxied;
beforeAll(async () => {
  prism = await proxied({ '/v1': DOCUMENTS.service, '/_sandbox/v1': DOCUMENTS.sandbox });
});
afterAll(() => prism[Symbol.asyncDispose]());

describe('through Prism', () => {
  it.each(names)('%s', async name => {
    const violations: string[] = [];
    const between = prism.to(violation => violations.push(violation));
    const problems = await runTranscript(join(stories, name), { update: false, between });
    const expected = AGAINST[name];
    const said = PRINTED_OTHERWISE.has(name) ? [] : problems;
    if (expected === undefined) expect({ violations, problems: said }).toEqual({ violations: [], problems: [] });
    else expect(violations).toEqual([expect.stringMatching(expected)]);
  });

  it('every operation of the service was asked, and files went both ways', () => {
    const asked = [...prism.asked];
    const rows = [
      ...Object.entries(OPERATIONS).map(([name, row]) => ({ name, ...row, base: '/v1' })),
      ...Object.entries(TRANSFERS).map(([name, row]) => ({ name, ...row, base: ADMIN_PATH })),
    ];
    const missed = rows.filter(({ method, path, base }) => {
      const pattern = new RegExp(`^${method} ${base}${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      return !asked.some(request => pattern.test(request));
    });
    expect(missed.map(({ name }) => name)).toEqual([]);
  });
});

/** What Prism has against the last of some requests to a sandbox of a dialect. */
async function verdict(dialect: string, ...requests: readonly Asked[]): Promise<string> {
  const violations: string[] = [];
  await using sandbox = await startSandbox({ listen: 'socket', ids: 'counted', wallet: 100, dialect });
  await ask(sandbox, { method: 'POST', path: '/cards', body: { bin_id: 'bin_1', amount: 10 } });
  await using folder = await temporaryFolder();
  const { socketPath, close } = await prism.to(violation => violations.push(violation))(sandbox, folder.path);
  for (const request of requests) await ask({ ...sandbox, socketPath }, request);
  await close();
  expect(violations.length).toBeLessThan(2);
  return violations[0] ?? 'nothing';
}

describe('the judge itself', () => {
  const details: Asked = { path: '/cards/card_1/details' };
  const freeze: Asked = { method: 'POST', path: '/cards/card_1/freeze' };

  it('has nothing against what is right', async () => {
    expect(await verdict('default', details, freeze, { path: '/cards' })).toBe('nothing');
  });

  it('sees a field that is named otherwise', async () => {
    expect(await verdict('names-increase', details)).toMatch(/additional properties; found .*primary_account_number/);
  });

  it('sees a member that is left out', async () => {
    expect(await verdict('minimal', { path: '/cards' })).toMatch(/must have required property 'meta'/);
  });

  it('sees a status nobody declared; of some Prism tells in a header alone', async () => {
    expect(await verdict('minimal', freeze)).toMatch(/^POST \/v1\/cards\/card_1\/freeze 500: .*status code/);
    const fault = { 'x-sandbox-fault': JSON.stringify({ action: { kind: 'status', code: 418 } }) };
    expect(await verdict('default', { path: '/cards', headers: fault })).toMatch(/^GET \/v1\/cards 418: .*status code/);
  });

  it('sees a request of the wrong kind, and one for a route that is none', async () => {
    const wrong = { bin_id: 'bin_1', amount: '5' };
    expect(await verdict('default', { method: 'POST', path: '/cards', body: wrong })).toMatch(/ 422: .*amount/);
    expect(await verdict('default', { path: '/history' })).toMatch(/NO_PATH_MATCHED_ERROR/);
  });

  it('sees the control surface too', async () => {
    const path = '/_sandbox/v1/simulate/authorizations';
    const body = { card_id: 'card_1', amount: 1, colour: 'red' };
    expect(await verdict('default', { method: 'POST', path, body })).toMatch(/ 422: .*colour/);
  });
});
