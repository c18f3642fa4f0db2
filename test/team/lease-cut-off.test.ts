/**
 * The database goes away while the program of a lease runs. The card was made and shown to the program, so that nothing says
 * that nothing was sent; and what the process has left is ended by the next command of its machine.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { skippingClock } from '../support/clocks.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

/** A program that runs until the test lets it end. */
async function heldProgram() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    line: `node -e "require('net').connect(${port}, '127.0.0.1').resume()"`,
    begun: once(server, 'connection') as Promise<[Socket]>,
    [Symbol.dispose]: () => void server.close(),
  };
}

describe.skipIf(missing())('the database goes away while the program of a lease runs', () => {
  it.each(['', ' --intent po-1'])('a lease%s is done in part, and says so', async name => {
    await using own = await ownServer();
    await using t = await team(own);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    using program = await heldProgram();
    const lease = `cards lease --bin bin_1 --amount 9 --reveal --yes${name} --json -- ${program.line}`;
    const leasing = ana.run(lease, { clock: skippingClock() });
    const [running] = await program.begun;
    await own.stop('SIGKILL');
    running.end();
    const { code, err } = await leasing;
    const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '');
    expect({ code, error }, err).toMatchObject({
      code: 15,
      error: {
        kind: 'check_failed',
        outcome: 'done',
        retryable: false,
        message: expect.stringMatching(
          /card_1 could not be terminated: .*cannot be reached.*; the program ended with 0$/,
        ),
        hint: 'cardwright cards lease --reap --yes',
      },
    });
    await own.start();
    const list = JSON.parse((await ana.run('ops list --json')).out).data;
    expect(list).toMatchObject([{ command: 'cards create', state: 'finished' }]);
    expect(JSON.parse((await ben.run('ops locks --json')).out).data).toEqual([]);
    // Its process still runs here, and so reaps nothing.
    expect((await ana.run('cards terminate card_1 --yes')).code).toBe(0);
    expect(await t.balance()).toBe(100);
    const checked = await ben.run('journal check --json');
    expect([checked.code, JSON.parse(checked.out).flaws]).toEqual([0, []]);
  });
});
