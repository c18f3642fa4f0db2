/** `sandbox start` as a process of its own that is killed in the middle of its work and started again. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type Home, home } from '../package/built.ts';

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly key: string;
  /** From the start of the process to the first answer of the service, ms; without the turns others had meanwhile. */
  readonly tookMs: number;
}

/** How long a process was ready to run and another one ran, ms; 0 where the system does not say. */
function stoodBack(pid: number | 'self'): number {
  const path = `/proc/${pid}/schedstat`;
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6 : 0;
}

async function startOn(place: Home): Promise<Started> {
  const [began, before] = [performance.now(), stoodBack('self')];
  const child = place.start(['sandbox', 'start', '--json']);
  const [said] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const { url, pid, api_key_file } = JSON.parse(String(said)) as { url: string; pid: number; api_key_file: string };
  const key = (await readFile(api_key_file, 'utf8')).trim();
  const { status } = await ask({ url, key }, '/wallet');
  expect(status).toBe(200);
  const others = stoodBack(pid) + stoodBack('self') - before;
  return { child, pid, url, key, tookMs: performance.now() - began - others };
}

async function ask({ url, key }: Pick<Started, 'url' | 'key'>, path: string, post?: { key: string; body: object }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const asked = { method: 'POST', headers: { ...headers, 'x-idempotency-key': post?.key ?? '' } };
  const response = await fetch(url + path, post ? { ...asked, body: JSON.stringify(post.body) } : { headers });
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get('idempotent-replayed'),
  };
}

/**
 * Kills it `rounds` times with kill -9 after a few answered creates, four at a time. Every answer that came must stand
 * after the next start and be repeated for its key; books and files must be whole, which the start itself checks.
 * Resolves to how long each start after a kill took until the first answer, ms of `tookMs`.
 */
async function killRounds(rounds: number): Promise<readonly number[]> {
  await using place = await home();
  const took: number[] = [];
  const answered: { readonly key: string; readonly text: string }[] = [];
  let server = await startOn(place);
  const { data } = JSON.parse((await ask(server, '/bins')).text) as { data: { id: string }[] };
  const body = { bin_id: data[0]?.id, amount: 1 };
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const { child } = server;
      const gone = once(child, 'exit');
      let nth = 0;
      let came = 0;
      const work = async () => {
        for (;;) {
          nth += 1;
          const key = `${round}-${nth}`;
          const answer = await ask(server, '/cards', { key, body }).catch(() => undefined);
          if (answer === undefined) return;
          expect(answer.status).toBe(201);
          answered.push({ key, text: answer.text });
          came += 1;
          if (came === 4 + (round % 5)) child.kill('SIGKILL');
        }
      };
      await Promise.all([work(), work(), work(), work()]);
      await gone;
      const next = await startOn(place);
      // One key for good; whoever was set up with it goes on.
      expect(next.key).toBe(server.key);
      expect(next.pid).not.toBe(server.pid);
      server = next;
      took.push(server.tookMs);
    }
    for (const { key, text } of answered) {
      const again = await ask(server, '/cards', { key, body });
      expect(again).toEqual({ status: 201, text, replayed: 'true' });
    }
    expect(answered.length).toBeGreaterThan(rounds * 3);
    const status = await place.run(['sandbox', 'status', '--json']);
    expect(JSON.parse(status.out)).toMatchObject({ ledger_ok: true, server: { pid: server.pid } });
    expect((await place.run(['sandbox', 'stop'])).code).toBe(0);
  } finally {
    server.child.kill('SIGKILL');
  }
  return took;
}

it('is there again within a second, 25 kills long', async () => {
  const took = [...(await killRounds(25))].sort((a, b) => a - b);
  const [median = 0, slowest = 0] = [took[12], took.at(-1)];
  process.stdout.write(
    `first answer after kill -9: median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms\n`,
  );
  // The goal says always, so the slowest of them counts; a busy machine is not our time.
  expect(slowest).toBeLessThan(1_000);
});
