/** `sandbox start` of the built program: in the background, and ended by signals. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { receiver } from '../support/receiver.ts';
import { isWhole } from '../support/whole.ts';
import { ended, home } from './built.ts';

const place = await home();
afterAll(async () => {
  // Of a test that was given up.
  for (const child of children) child.kill('SIGKILL');
  await place[Symbol.asyncDispose]();
});

const children: ChildProcess[] = [];
const serving = (...flags: readonly string[]) => {
  const child = place.start(['sandbox', 'start', '--json', ...flags]);
  children.push(child);
  return child;
};

const run = (line: string, env: Readonly<Record<string, string>> = {}) => place.run(line.split(' '), { env });

describe('sandbox start --detach', () => {
  it('returns when the sandbox answers, and leaves it there until sandbox stop', async () => {
    const ready = join(place.folder, 'ready');
    const started = await run(`sandbox start --detach -o env --data empty --ready-file ${ready}`);
    try {
      expect(started).toMatchObject({ code: 0 });
      const [url = ''] = /(?<=CARDWRIGHT_BASE_URL=')[^']+/.exec(started.out) ?? [];
      const [file = ''] = /(?<=CARDWRIGHT_API_KEY_FILE=')[^']+/.exec(started.out) ?? [];
      expect(await readFile(ready, 'utf8')).toBe(`${url}\n`);
      const env = { CARDWRIGHT_BASE_URL: url, CARDWRIGHT_API_KEY_FILE: file };
      expect(JSON.parse((await run('wallet --json', env)).out)).toMatchObject({ balance: 0 });
      expect((await run('sandbox status -o env')).out).toBe(started.out);
    } finally {
      expect((await run('sandbox stop')).code).toBe(0);
    }
    expect((await run('sandbox stop')).code).toBe(12);
  });

  it('says what kept it from starting', async () => {
    const { code, out, err } = await run('sandbox start --detach --data demo --seed 1');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('is there already, with data set empty and seed');
    expect(err).toContain('See: cardwright sandbox reset --help');
  });
});

describe('a signal', () => {
  it.each(firstOf([['SIGTERM'], ['SIGINT'], ['SIGHUP']], { isWhole }))(
    '%s finishes the request that is running, frees the port and ends with 0',
    async name => {
      const child = serving();
      const end = ended(child);
      const [said] = (await once(child.stdout ?? child, 'data')) as [Buffer];
      const { url, api_key_file } = JSON.parse(String(said)) as { url: string; api_key_file: string };
      const key = (await readFile(api_key_file, 'utf8')).trim();
      // Its body is still on the way when the signal comes.
      const body = JSON.stringify({ url: 'https://example.com/hook', events: ['*'] });
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      };
      const slow = request(`${url}/webhooks`, { method: 'POST', headers });
      slow.flushHeaders();
      await once(slow, 'continue');
      child.kill(name);
      // From then on nobody new is taken.
      while (
        await fetch(url).then(
          () => true,
          () => false,
        )
      );
      slow.end(body);
      const [response] = (await once(slow, 'response')) as [{ statusCode: number; resume(): void }];
      expect(response.statusCode).toBe(201);
      response.resume();
      const { code, signal, err } = await end;
      expect({ code, signal, err }).toEqual({ code: 0, signal: null, err: '' });
      await expect(fetch(url)).rejects.toThrow('fetch failed');
      expect((await run('sandbox status -o env')).code).toBe(12);
    },
  );
});

describe('what goes on by itself', () => {
  it.runIf(isWhole)('confirms a deposit when its time has come and sends the webhook, asked by nobody', async () => {
    const child = serving();
    const end = ended(child);
    await using there = await receiver();
    try {
      const [said] = (await once(child.stdout ?? child, 'data')) as [Buffer];
      const { url, api_key_file } = JSON.parse(String(said)) as { url: string; api_key_file: string };
      const env = { CARDWRIGHT_BASE_URL: url, CARDWRIGHT_API_KEY_FILE: api_key_file };
      expect((await run('sandbox clock set real')).code).toBe(0);
      expect((await run(`webhooks create --url ${there.url} --event deposit.confirmed --yes -q`, env)).code).toBe(0);
      expect((await run('sandbox simulate deposit --currency eth --amount 20 -q')).code).toBe(0);
      // The last request there is: from now on an hour is a moment.
      expect((await run('sandbox clock set scaled --rate 100000')).code).toBe(0);
      await there.until(1);
      expect(there.received[0]?.json).toMatchObject({ type: 'deposit.confirmed' });
    } finally {
      child.kill();
    }
    expect(await end).toMatchObject({ code: 0, err: '' });
  });
});
