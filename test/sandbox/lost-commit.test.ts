/** A connection to the database that is lost as a COMMIT is on its way: nobody is told what is not known. */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CommitUnknown } from '../../src/sandbox/store/faults.ts';
import { missing, type Server } from '../postgres/server.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openAccount } from '../support/test-store.ts';

type Reached = Pick<Server, 'socket' | 'port'>;

/** A way to the server that is cut, when told to, once a COMMIT has gone through, or just before. */
async function cuttingWay() {
  const folder = await temporaryFolder();
  const way: { cut: 'before' | 'after' | undefined } = { cut: undefined };
  const ends = new Set<Socket>();
  const to = async ({ socket, port }: Reached): Promise<Reached> => {
    const server = createServer(near => {
      const far = connect(join(socket, `.s.PGSQL.${port}`));
      const close = () => [near, far].map(end => end.destroy());
      for (const end of [near, far]) ends.add(end.on('error', close).on('close', close));
      far.pipe(near);
      near.on('data', (bytes: Buffer) => {
        const { cut } = way;
        if (cut === undefined || !bytes.includes('\0commit\0')) return void far.write(bytes);
        way.cut = undefined;
        far.unpipe(near);
        if (cut === 'before') return void close();
        // The answers of the statements before it may come first. All of them go nowhere.
        let answers = Buffer.alloc(0);
        far.on('data', (part: Buffer) => {
          answers = Buffer.concat([answers, part]);
          if (answers.includes('COMMIT\0')) close();
        });
        far.write(bytes);
        far.resume();
      });
    });
    await once(server.listen(join(folder.path, `.s.PGSQL.${port}`)), 'listening');
    server.unref();
    return { socket: folder.path, port };
  };
  const close = async () => {
    for (const end of ends) end.destroy();
    await folder[Symbol.asyncDispose]();
  };
  return { way, to, [Symbol.asyncDispose]: close };
}

it.skipIf(missing() !== undefined)('gives no answer, goes on, and repeats what was done or does it', async () => {
  await using cutting = await cuttingWay();
  // A COMMIT is seen on its way by its text.
  const reaching = { way: cutting.to, mayPrepare: false };
  await using service = await fakeService({ open: (request, account) => openAccount(request, account, reaching) });
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const create = (idempotencyKey: string) =>
    ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 10 }, idempotencyKey });
  for (const cut of ['before', 'after'] as const) {
    cutting.way.cut = cut;
    await expect(create(cut)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(service.faults.splice(0)).toEqual([expect.any(CommitUnknown)]);
    const { status, headers } = await create(cut);
    expect([cut, status, headers['idempotent-replayed'] ?? 'done now']).toEqual([
      cut,
      201,
      cut === 'before' ? 'done now' : 'true',
    ]);
  }
  expect((await ask(service, { path: '/cards' })).json.data).toHaveLength(2);
  expect((await ask(service, { path: '/wallet' })).json.balance).toBe(980);
});
