/** A process that stood still behind SENT until its lease was over: nothing is sent, and the journal knows it where it can. */
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { localStore } from '../../src/journal/store/local-store.ts';
import type { OpStore, Tape } from '../../src/journal/store/op-store.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { journalFor, performAll, planOf } from '../crash/driver.ts';
import { random, realClock } from '../support/clocks.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A store whose first op may not leave; `write` is what becomes of a record behind that. */
function withoutLease(store: OpStore, write: (tape: Tape) => Partial<Tape['file']>): OpStore {
  return {
    ...store,
    async claim(claim) {
      const tape = await store.claim(claim);
      let mayWrite = true;
      const { append } = tape.file;
      const file: Tape['file'] = { ...tape.file, append: bytes => (mayWrite ? append(bytes) : refused(tape)(bytes)) };
      const refused = (each: Tape) => write(each).append ?? append;
      return {
        ...tape,
        file,
        async mayLeave() {
          mayWrite = false;
          return false;
        },
      };
    },
  };
}

async function stage() {
  const sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
  const folder = await temporaryFolder();
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const order = {
    url: sandbox.url,
    key: sandbox.key.expose(),
    folder: folder.path,
    bin: bins.data[0].id,
    rows: 1,
    named: true,
    dieAt: 0,
  };
  const lock = { pid: process.pid, clock: realClock, random };
  const store = localStore({
    stateFolder: folder.path,
    disk: createDisk({ platform: process.platform, random, warn: () => undefined, lock }),
    random,
    pid: process.pid,
    keyPrint: async () => '00000000',
    accountPrint: async () => '0000000000000000',
  });
  return {
    order,
    store,
    cards: async () => (await ask(sandbox, { path: '/cards?per_page=100' })).json.data.length as number,
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

test('its SENT is taken back, and the same command sends it once', async () => {
  await using t = await stage();
  const stopped = journalFor(t.order, undefined, realClock, { store: withoutLease(t.store, () => ({})) });
  const thrown = await performAll(await stopped.begin(planOf(t.order))).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ kind: 'guarded', facts: { outcome: 'not_sent' } });
  expect((thrown as CliError).facts.notes).toBeUndefined();
  const journal = journalFor(t.order, undefined, realClock, { store: t.store });
  const [left] = await journal.list();
  expect([left, await t.cards()]).toMatchObject([{ counts: { unknown: 0, not_sent: 1 } }, 0]);
  await performAll(await journal.begin(planOf(t.order)));
  expect(await t.cards()).toBe(1);
});

test('who can write no record says so, and the row counts as sent', async () => {
  await using t = await stage();
  const inOtherHands = async () => {
    throw new CliError('guarded', { message: 'taken over by ben', outcome: 'not_sent' });
  };
  const stopped = journalFor(t.order, undefined, realClock, {
    store: withoutLease(t.store, () => ({ append: inOtherHands })),
  });
  await expect(performAll(await stopped.begin(planOf(t.order)))).rejects.toMatchObject({
    kind: 'guarded',
    facts: {
      notes: [expect.stringContaining('This process has sent nothing of row 1, and could not record that')],
    },
  });
  const journal = journalFor(t.order, undefined, realClock, { store: t.store });
  expect([await journal.list(), await t.cards()]).toMatchObject([[{ counts: { unknown: 1 } }], 0]);
});
