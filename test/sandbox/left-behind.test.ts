/** What a sandbox in memory puts among temporary files goes with it, or with the next one when it was killed. */
import { once } from 'node:events';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../support/child.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const save = (served: Served) =>
  ask(served, { method: 'POST', path: '/_sandbox/v1/snapshots', body: { name: 'kept' } });

/** Folders of snapshots that say they are of that process. */
const snapshotsOf = (pid: number | undefined) =>
  readdirSync(tmpdir())
    .filter(name => name.startsWith('cardwright-snapshots-'))
    .map(name => join(tmpdir(), name))
    .filter(folder => existsSync(join(folder, `used-by-${pid}`)));

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

it('goes with the next one after kill -9, and while it lives stays', async () => {
  await using child = await program(`
    import { startSandbox } from './src/sandbox/serving/start.ts';
    import { ask } from './test/support/sandbox-http.ts';
    const sandbox = await startSandbox({ listen: 'socket' });
    await ask(sandbox, { method: 'POST', path: '/_sandbox/v1/snapshots', body: { name: 'kept' } });
    console.log(sandbox.socketPath);
  `);
  const killed = child.start();
  const [told] = (await once(killed.stdout ?? killed, 'data')) as [Buffer];
  const socketFolder = dirname(String(told).trim());
  const [snapshots = ''] = snapshotsOf(killed.pid);
  expect([existsSync(join(snapshots, 'snapshots', 'kept.snapshot')), existsSync(socketFolder)]).toEqual([true, true]);
  const make = async () => {
    // As if they were old: what is young may be about to be used.
    for (const path of [socketFolder, String(told).trim()]) utimesSync(path, LONG_AGO, LONG_AGO);
    const next = await startSandbox({ listen: 'socket' });
    expect((await save(next)).status).toBe(201);
    expect(snapshotsOf(process.pid)).toHaveLength(1);
    await next.stop();
  };
  await make();
  expect([existsSync(snapshots), existsSync(socketFolder)]).toEqual([true, true]);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await make();
  expect([existsSync(snapshots), existsSync(socketFolder)]).toEqual([false, false]);
  expect(snapshotsOf(process.pid)).toEqual([]);
});
