/**
 * Five operations on a store in a file, killed at the n-th system call that changes it or that sends something, and
 * what must be true when it is opened again (I15): no torn transaction, a whole ledger, every answer that was given
 * given again, what was about to be answered done, and the rest done exactly once when it is asked for again.
 */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { program } from '../support/child.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { type Traced, traced, traceOf } from '../support/strace.ts';
import { askFor, OPERATIONS, type Swept, type Things } from './sweep-asking.ts';

const SOURCE = `
import { writeSync } from 'node:fs';
import { startSandbox } from './src/sandbox/serving/start.ts';
import { askFor, OPERATIONS } from './test/sandbox/sweep-asking.ts';
const [store, things] = process.argv.slice(2);
const sandbox = await startSandbox({ store, rateLimits: false, deliveries: 'on-deliver' });
for (const name of OPERATIONS) {
  // No answer: the store failed. A kill leaves it as it is, without the tidying of an orderly end.
  const answer = await askFor(sandbox, name, JSON.parse(things)).catch(() => process.kill(process.pid, 'SIGKILL'));
  const { status, text } = answer;
  writeSync(1, JSON.stringify([name, status, text]) + '\\n');
}
await sandbox.stop();
`;

/** Calls that change the store, or make a change last. */
export const CALLS = 'pwrite64,pwritev,write,fsync,fdatasync,ftruncate,rename,renameat2,unlink,unlinkat,fallocate';

/** How the runtime sends the head and body of an answer, and of a request that has one. */
const SENDS = 'writev';

/** Why no answer can be struck as it leaves: from 24 on Node sends it by `write`, which wakes its threads as well. */
export const whyNoSends = Number(process.versions.node.split('.')[0]) < 24 ? undefined : 'by write, as much else is';

/** What is on the books at the end, whatever happened on the way. */
interface Books {
  readonly wallet: unknown;
  readonly cards: readonly unknown[];
  readonly entries: number;
  readonly events: number;
}

interface Struck {
  readonly killed: boolean;
  readonly broken: readonly string[];
}

export interface Sweep extends AsyncDisposable {
  /** Calls of a run that is left alone, in their order. */
  readonly calls: readonly string[];
  /** Sends of a run that is left alone, in their order: answers, and requests with a body. */
  readonly sends: readonly string[];
  /** Runs it, killed at the n-th call from 1; resolves to what is not as it must be, and whether it died. */
  strike(nth: number): Promise<Struck>;
  /** The same at the n-th send: of an answer nothing has left then, and its effect must last all the same. */
  strikeSend(nth: number): Promise<Struck>;
  /** Runs it with the n-th sync of the store failing as a bad disk does (EIO), and kills it at the first lost answer. */
  failSync(nth: number): Promise<Struck>;
  /** A whole trace with sockets, of a run that is left alone. */
  trace(): Promise<readonly string[]>;
}

/** With `journal: 'memory'` the store keeps what it needs for undoing in memory alone: kills must tear it then. */
export async function openSweep({ journal = 'wal' }: { readonly journal?: 'wal' | 'memory' } = {}): Promise<Sweep> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-sweep-'));
  const child = await program(SOURCE);
  const first = join(folder, 'first.db');
  const things = await prepared(first);
  if (journal === 'memory') await plantMemoryJournal(child.file);
  let runs = 0;
  const run = async (options: (store: string) => readonly string[]): Promise<Traced & { readonly store: string }> => {
    const store = join(folder, `${++runs}.db`);
    await copyFile(first, store);
    const command = [process.execPath, child.file, store, JSON.stringify(things)];
    return { store, ...(await traced({ command, options: options(store) })) };
  };
  const onStore = (store: string) => ['', '-wal', '-shm'].flatMap(part => ['-P', store + part]);
  const out = join(folder, 'calls.txt');
  const alone = await run(store => ['-o', out, '-e', `trace=${CALLS}`, ...onStore(store)]);
  const calls = await traceOf(out);
  const { books: expected } = await reopened(alone.store, things, alone.lines);
  await run(() => ['-o', out, '-s', '16', '-e', `trace=${SENDS}`]);
  const sends = await traceOf(out);
  const judged = async (struck: Awaited<ReturnType<typeof run>>, leaving?: Swept): Promise<Struck> => {
    const { books, broken } = await reopened(struck.store, things, struck.lines, leaving);
    const differs = JSON.stringify(books) !== JSON.stringify(expected);
    const ends = differs ? [`it ends as ${JSON.stringify(books)}, not as ${JSON.stringify(expected)}`] : [];
    const odd = struck.killed || struck.code === 0 ? [] : [`it ended with ${struck.code}`];
    for (const part of ['', '-wal', '-shm']) await rm(struck.store + part, { force: true });
    return { killed: struck.killed, broken: [...broken, ...ends, ...odd] };
  };
  return {
    calls,
    sends,
    async strike(nth) {
      const call = nameOf(calls[nth - 1]);
      // Calls are counted by name.
      const when = calls.slice(0, nth).filter(other => nameOf(other) === call).length;
      const inject = ['-e', `inject=${call}:signal=KILL:when=${when}`];
      return judged(await run(store => ['-o', '/dev/null', '-e', `trace=${CALLS}`, ...inject, ...onStore(store)]));
    },
    async strikeSend(nth) {
      const inject = ['-e', `inject=${SENDS}:signal=KILL:when=${nth}`];
      const struck = await run(() => ['-o', '/dev/null', '-e', `trace=${SENDS}`, ...inject]);
      const answers = sends.slice(0, nth).filter(isAnswer).length;
      return judged(struck, isAnswer(sends[nth - 1]) ? OPERATIONS[answers - 1] : undefined);
    },
    async failSync(nth) {
      const syncs = calls.filter(isSync);
      const call = nameOf(syncs[nth - 1]);
      const when = syncs.slice(0, nth).filter(other => nameOf(other) === call).length;
      const inject = ['-e', `inject=${call}:error=EIO:when=${when}`];
      const struck = await run(store => ['-o', '/dev/null', '-e', `trace=${CALLS}`, ...inject, ...onStore(store)]);
      // The last ones are those of an orderly end, which then is none, and says so.
      return judged({ ...struck, code: 0 });
    },
    async trace() {
      await run(() => ['-o', out, '-y', '-s', '16', '-e', `trace=${CALLS},writev,sendto,sendmsg`]);
      return traceOf(out);
    },
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const JOURNAL = 'pragma journal_mode = wal';

async function plantMemoryJournal(program: string): Promise<void> {
  const code = await readFile(program, 'utf8');
  if (!code.includes(JOURNAL)) throw new Error('the store does not set its journal where it is looked for');
  await writeFile(program, code.replace(JOURNAL, 'pragma journal_mode = memory'));
}

export const isAnswer = (send = '') => send.includes('"HTTP/1.1 ');

export const isSync = (call = '') => /^f(?:data)?sync\(/.test(call);

/** `pwrite64` of `pwrite64(17, …) = 24`. */
export const nameOf = (call = '') => /^\w+/.exec(call)?.[0] ?? '';

/** A store with two cards and an authorization, closed. */
async function prepared(store: string): Promise<Things> {
  await using sandbox = await startSandbox({ store, rateLimits: false, wallet: 500, deliveries: 'on-deliver' });
  const post = async (path: string, body: object) => (await ask(sandbox, { method: 'POST', path, body })).json;
  const [bin] = (await ask(sandbox, { path: '/bins' })).json.data;
  const card = await post('/cards', { bin_id: bin.id, amount: 50 });
  const ending = await post('/cards', { bin_id: bin.id, amount: 20 });
  const bought = await post('/_sandbox/v1/simulate/authorizations', { card_id: card.id, amount: 20 });
  return { bin: bin.id, card: card.id, ending: ending.id, authorization: bought.authorization_id };
}

/**
 * Opens what is left, asks for everything once more, and says what is wrong. `leaving` was committed, but its answer
 * did not leave.
 */
async function reopened(store: string, things: Things, lines: readonly string[], leaving?: Swept) {
  const broken: string[] = [];
  await using sandbox = await startSandbox({ store, rateLimits: false, deliveries: 'on-deliver' });
  const answered = new Map(
    lines.map(line => [(JSON.parse(line) as [Swept])[0], JSON.parse(line) as [Swept, number, string]]),
  );
  broken.push(...(await ledgerFaults(sandbox)).map(fault => `as it was left: ${fault}`));
  for (const name of OPERATIONS) {
    const given = answered.get(name);
    if (name === 'settle') {
      const isDone = await isSettled(sandbox, things);
      if ((given !== undefined || leaving === name) && !isDone) broken.push('settle was committed and is lost');
      if (!isDone) await askFor(sandbox, name, things);
      continue;
    }
    const { status, text, headers } = await askFor(sandbox, name, things);
    if (status >= 300) broken.push(`${name} cannot be repeated: ${status} ${text}`);
    const isReplayed = headers['idempotent-replayed'] === 'true';
    if (leaving === name && !isReplayed) broken.push(`${name} was about to be answered and is lost`);
    if (given === undefined) continue;
    const same = status === given[1] && text === given[2] && isReplayed;
    if (!same) broken.push(`${name} was answered ${given[1]} ${given[2]}, and now ${status} ${text}`);
  }
  broken.push(...(await ledgerFaults(sandbox)).map(fault => `at the end: ${fault}`));
  return { broken, books: await booksOf(sandbox) };
}

async function ledgerFaults(sandbox: Served): Promise<readonly string[]> {
  return (await ask(sandbox, { path: '/_sandbox/v1/status' })).json.ledger_faults;
}

async function isSettled(sandbox: Served, { authorization }: Things): Promise<boolean> {
  const { json } = await ask(sandbox, { path: '/transactions?per_page=100' });
  const row = json.data.find(({ id }: { id: string }) => id === authorization);
  return row.status === 'settled';
}

async function booksOf(sandbox: Served): Promise<Books> {
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  const { json: cards } = await ask(sandbox, { path: '/cards?per_page=100' });
  const { json: entries } = await ask(sandbox, { path: '/_sandbox/v1/ledger/entries?per_page=1' });
  const { json: events } = await ask(sandbox, { path: '/_sandbox/v1/events?per_page=1' });
  const shown = (card: { label: string; status: string; balance: number }) => [card.label, card.status, card.balance];
  return {
    wallet: wallet.balance,
    cards: cards.data.map(shown).map(String).sort(),
    entries: entries.meta.total,
    events: events.meta.total,
  };
}
