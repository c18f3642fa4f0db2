/**
 * Containers that share a state folder: a process sees none of the other one, so a living one must not pass for dead. Here two
 * sets of pids of one machine stand for them.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { ended, home } from './built.ts';

const CONTAINER = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
const cannot = spawnSync('unshare', [...CONTAINER.slice(1), 'true']).status !== 0;

/** A service, and commands before it, each in a container of its own with one state folder. */
async function containers() {
  const sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
  const proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true, delayMs: 60_000 });
  const place = await home();
  const env = { CARDWRIGHT_BASE_URL: proxy.url, CARDWRIGHT_API_KEY: sandbox.key.expose() };
  return {
    sandbox,
    proxy,
    inContainer(line: string): ChildProcess {
      const child = place.start(line.split(' '), { env, through: CONTAINER });
      child.stdin?.end();
      return child;
    },
    async [Symbol.asyncDispose]() {
      for (const each of [place, proxy, sandbox]) await each[Symbol.asyncDispose]();
    },
  };
}

it.skipIf(cannot)('a command at work in one container is not taken for dead in another', async () => {
  await using at = await containers();
  const { sandbox, proxy, inContainer } = at;
  proxy.fail('POST', /\/fund$/, 'late-answer');
  const { json: card } = await ask(sandbox, { method: 'POST', path: '/cards', body: { bin_id: 'bin_1', amount: 5 } });
  const fund = `cards fund ${card.id} --amount 3 --yes`;
  const first = inContainer(fund);
  try {
    await proxy.posted(1);
    const listed = await ended(inContainer('ops list --json'));
    const [{ op, state }] = JSON.parse(listed.out).data;
    expect(state).toBe('running');
    const resumed = await ended(inContainer(`ops resume ${op} --resend-absent --yes`));
    expect({ code: resumed.code, err: resumed.err }).toMatchObject({ code: 14, err: expect.stringContaining(op) });
    expect(proxy.posts()).toHaveLength(1);
  } finally {
    first.kill('SIGKILL');
    await once(first, 'close');
  }
});
