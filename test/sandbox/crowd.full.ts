/** Many processes that make and use one new store at once, each a sandbox of its own on it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../support/child.ts';
import { ask } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const SOURCE = `
import { startSandbox } from './src/sandbox/serving/start.ts';
import { ask } from './test/support/sandbox-http.ts';
const [store, name, count] = process.argv.slice(2);
const told = [];
// A connection that is kept may be closed while this process gets no turn.
const headers = { connection: 'close' };
const sandbox = await startSandbox({ store, listen: 'socket', rateLimits: false, wallet: 100000, onFault: error => told.push(String(error)) });
const bins = await ask(sandbox, { path: '/bins', headers });
if (bins.status !== 200) throw new Error(name + ' got ' + bins.text + ' ' + told);
const bin_id = bins.json.data[0].id;
const statuses = {};
for (let nth = 0; nth < Number(count); nth += 1) {
  const { status } = await ask(sandbox, { method: 'POST', path: '/cards', headers, body: { bin_id, amount: 1 }, idempotencyKey: name + '-' + nth });
  statuses[status] = (statuses[status] ?? 0) + 1;
}
// All of them under one key: whoever comes first makes it.
const shared = await Promise.all(Array.from({ length: 5 }, () =>
  ask(sandbox, { method: 'POST', path: '/cards', headers, body: { bin_id, amount: 2 }, idempotencyKey: 'shared' })));
await sandbox.stop();
console.log(JSON.stringify({ statuses, told, shared: shared.map(({ status, json }) => status === 201 ? json.id : status) }));
`;

interface Told {
  readonly statuses: Readonly<Record<string, number>>;
  readonly told: readonly string[];
  readonly shared: readonly (string | number)[];
}

/** No write may fail, none be lost, and one key used by all must have one effect. */
async function crowd(processes: number, writes: number): Promise<void> {
  await using child = await program(SOURCE);
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-crowd-'));
  try {
    const store = join(folder, 'store.db');
    const names = Array.from({ length: processes }, (_, index) => `p${index}`);
    const all = await Promise.all(
      names.map(async name => JSON.parse(await child.run(store, name, String(writes))) as Told),
    );
    expect(all.map(({ statuses, told }) => ({ statuses, told }))).toEqual(
      names.map(() => ({ statuses: { 201: writes }, told: [] })),
    );
    const shared = new Set(all.flatMap(told => told.shared));
    // 409: it is being worked on.
    shared.delete(409);
    expect([...shared]).toHaveLength(1);
    await using sandbox = await startSandbox({ store, rateLimits: false });
    const { meta } = (await ask(sandbox, { path: '/cards?per_page=1' })).json;
    expect(meta.total).toBe(processes * writes + 1);
    const wallet = (await ask(sandbox, { path: '/wallet' })).json;
    expect(wallet.balance).toBe(100_000 - processes * writes - 2);
    const check = await ask(sandbox, { method: 'POST', path: '/_sandbox/v1/ledger/check' });
    expect(check.json).toMatchObject({ ok: true, faults: [] });
  } finally {
    await rm(folder, { recursive: true });
  }
}

it('takes every write of 20 processes times 100 on one new file', { timeout: 600_000 }, () => crowd(20, 100));
