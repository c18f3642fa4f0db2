/**
 * What the bundle of `program.ts` gets in place of Node's modules and the client of undici. Each does what the real one
 * does for the process whose turn it is.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import realProcess from 'node:process';
import v8 from 'node:v8';
import type { LostAt } from '../hostile-service.ts';
import { PgClient } from './postgres.ts';
import { DatabaseSync } from './sqlite.ts';
import { effect, effectNow, Gone, type Process, runningHere, START, self, sleep, turnOf } from './world.ts';

type Call = (...asked: unknown[]) => unknown;

// Time

class Timer {
  #due: { isOff: boolean } | undefined;
  constructor(call: () => void, ms: number, isRepeated = false) {
    const who = turnOf();
    const begin = () => {
      this.#due = who?.world.after(ms, who, () => {
        if (isRepeated) begin();
        call();
      });
    };
    begin();
  }
  close(): void {
    if (this.#due) this.#due.isOff = true;
  }
  ref = () => this;
  unref = () => this;
}

const clear = (timer: unknown) => timer instanceof Timer && timer.close();
const timers = {
  setTimeout: (call: Call, ms = 1, ...given: unknown[]) => new Timer(() => call(...given), Math.max(1, ms)),
  clearTimeout: clear,
  setInterval: (call: () => void, ms: number) => new Timer(call, Math.max(1, ms), true),
  clearInterval: clear,
  setImmediate(call: Call, ...given: unknown[]) {
    const world = turnOf()?.world;
    return new Timer(() => call(...given), world && world.running.size > 1 ? world.chance.fraction() * 0.4 : 0);
  },
  clearImmediate: clear,
};

// Files

const CHANGES = /^(?:append|chmod|copy|fchmod|ftruncate|link|mkdir|rename|rm|symlink|truncate|unlink|write)/;

const isChange = (name: string, asked: readonly unknown[]) =>
  name.startsWith('open') ? ![undefined, 'r', fs.constants.O_RDONLY].includes(asked[1] as string) : CHANGES.test(name);

/** Files that tell of processes: each machine has its own. Undefined for all others. */
function processFile(path: unknown): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/proc/')) return undefined;
  const who = self();
  const { name, boot } = who.started.machine;
  if (path === '/proc/sys/kernel/random/boot_id') return `${boot}\n`;
  if (path === '/proc/self/ns/pid') return `pid:[${name}]`;
  const pid = Number(/^\/proc\/(\d+|self)\/stat$/.exec(path)?.[1]?.replace('self', String(who.pid)));
  const started = pid === 1 ? 1 : runningHere(pid)?.startedAt;
  if (started === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT', errno: -2 });
  return `${pid} (node) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${started} 0 0\n`;
}

const SYNCS = ['fsyncSync', 'fdatasyncSync'];

/** A call of the disk by its name. Nothing here survives a loss of power, so nothing is synced. */
function onDisk(name: string, asked: unknown[]): unknown {
  const [path] = asked;
  const who = turnOf();
  if (who === undefined || SYNCS.includes(name)) return undefined;
  const known = processFile(path);
  if (known !== undefined) return known;
  const result = (fs as unknown as Record<string, Call>)[name]?.(...asked);
  if (name === 'openSync') who.files.add(result as number);
  if (name === 'closeSync') who.files.delete(path as number);
  return result;
}

const onDiskLater = (name: string, asked: unknown[]) =>
  effect(() => onDisk(name, asked), isChange(name, asked) ? 'change' : 'reading');

/** An open file: its methods are those of the disk that take its number. */
const handle = (fd: number): object =>
  new Proxy(
    { fd },
    {
      get(known, name: string | symbol) {
        if (name === 'then' || name === 'fd') return Reflect.get(known, name);
        const call = typeof name === 'symbol' ? 'close' : name;
        const isOfNumber = ['stat', 'truncate', 'chmod', 'sync', 'datasync'].includes(call);
        return async (...asked: unknown[]) => {
          const result = await onDiskLater(`${isOfNumber ? 'f' : ''}${call}Sync`, [fd, ...asked]);
          const [buffer] = asked;
          return call === 'read' ? { bytesRead: result, buffer } : call === 'write' ? { bytesWritten: result } : result;
        };
      },
    },
  );

const names = Object.keys(fs).filter(name => name.endsWith('Sync'));
const promised = {
  ...fs.promises,
  ...Object.fromEntries(
    names.map(name => [name.slice(0, -'Sync'.length), (...asked: unknown[]) => onDiskLater(name, asked)]),
  ),
  open: async (...asked: unknown[]) => handle((await onDiskLater('openSync', asked)) as number),
};
const files = {
  ...fs,
  ...Object.fromEntries(
    names.map(name => [
      name,
      (...asked: unknown[]) => (isChange(name, asked) ? effectNow(() => onDisk(name, asked)) : onDisk(name, asked)),
    ]),
  ),
  promises: promised,
};

// HTTP

/** What comes back over the wire, unless it is kept from coming. */
export interface Reply {
  readonly kept?: LostAt | 'silence' | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A request as it arrives at the service. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly who: Process;
  answer(reply: Reply): void;
}

/** In place of undici's client: one connection to the service. */
class Client {
  readonly #who = self();
  #isConnected = false;
  #isOver = false;

  dispatch({ method, path, headers, body, headersTimeout }: Asked, heard: Heard): void {
    const who = this.#who;
    const { world } = who;
    const latency = () => 1 + world.chance.fraction() * 20;
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    let isHeard = false;
    const hear = (ms: number, tell: () => void) =>
      void world.after(ms, who, () => {
        if (!this.#isOver) tell();
      });
    const fail = (code: string) => {
      isHeard = true;
      heard.onResponseError(undefined, Object.assign(new Error(code), { code, syscall: 'read' }));
    };
    const take = ({ kept, status, headers: answered, text }: Reply) => {
      if (kept === 'silence') return;
      hear(latency(), () => {
        if (isHeard) return;
        if (kept === 'before-headers') return fail('ECONNRESET');
        isHeard = true;
        heard.onResponseStart(undefined, status, answered);
        const bytes = Buffer.from(text).subarray(0, kept === undefined ? undefined : kept === 'in-body' ? -20 : 0);
        if (bytes.length > 0) heard.onResponseData(undefined, bytes);
        if (kept === undefined) heard.onResponseEnd(undefined, {});
        else hear(5, () => fail('ECONNRESET'));
      });
    };
    hear(this.#isConnected ? 0 : latency(), () => {
      this.#isConnected = true;
      heard.onRequestStart(undefined, undefined);
      if (method !== 'GET') who.sends();
      try {
        // What was sent arrives, whatever becomes of who sent it.
        effectNow(() => {
          const there = Math.max(who.thawAt, world.now) + latency();
          world.after(there - world.now, undefined, () =>
            world.service.take({ method, path, headers: named, text: body ?? '', who, answer: take }),
          );
        });
      } catch (thrown) {
        if (thrown instanceof Gone) return;
        throw thrown;
      }
      if (headersTimeout > 0) hear(headersTimeout, () => isHeard || fail('UND_ERR_HEADERS_TIMEOUT'));
    });
  }
  destroy(): void {
    this.#isOver = true;
  }
  async close(): Promise<void> {}
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly headersTimeout: number;
}
type Heard = Readonly<
  Record<'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError', Call>
>;

// Chance, system, process

const bytes = (count: number) => Buffer.from(turnOf()?.bytes(count) ?? crypto.randomBytes(count));
const fill = (into: Uint8Array) => {
  into.set(bytes(into.length));
  return into;
};

const ownProcess: Readonly<Record<string, () => unknown>> = {
  pid: () => turnOf()?.pid ?? 1,
  env: () => turnOf()?.started.env ?? {},
  getBuiltinModule: () => (module: string) =>
    module.endsWith('sqlite') ? undefined : (modules[module] ?? realProcess.getBuiltinModule(module as 'node:fs')),
  kill: () => (pid: number) => {
    if (runningHere(pid) === undefined) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    return true;
  },
  dlopen: () => (module: { exports: unknown }) => {
    module.exports = { DatabaseSync };
  },
  on: () => () => process,
  once: () => () => process,
  off: () => () => process,
};

const process = new Proxy(realProcess, {
  get: (target, name: string) =>
    Object.hasOwn(ownProcess, name) ? ownProcess[name]?.() : Reflect.get(target, name, target),
});

/** What is kept along a call, for the library of prompts. Node's own makes each promise of the process slower from then on. */
let along: unknown;
function runWith<T>(kept: unknown, work: () => T): T {
  const before = along;
  along = kept;
  try {
    return work();
  } finally {
    along = before;
  }
}

/** What stands in the place of modules. */
export const modules: Readonly<Record<string, unknown>> = {
  'node:fs': files,
  'node:fs/promises': promised,
  'node:async_hooks': {
    AsyncLocalStorage: class {
      run = runWith;
      getStore = () => along;
    },
    AsyncResource: {
      bind(call: Call) {
        const kept = along;
        return (...asked: unknown[]) => runWith(kept, () => call(...asked));
      },
    },
  },
  'node:os': {
    ...os,
    hostname: () => turnOf()?.started.machine.name ?? 'nobody',
    homedir: () => turnOf()?.started.home ?? '/nowhere',
    tmpdir: () => turnOf()?.started.home ?? os.tmpdir(),
  },
  'node:crypto': { ...crypto, randomBytes: bytes, randomFillSync: fill },
  'node:process': process,
  'node:timers': timers,
  // Flags are those of the whole simulator.
  'node:v8': { ...v8, setFlagsFromString: () => undefined },
  'node:timers/promises': {
    setTimeout: (ms: number, _value: unknown, how?: { signal?: AbortSignal }) => sleep(ms, how?.signal),
  },
  'undici/lib/dispatcher/client.js': Client,
  'undici/lib/core/connect.js': () => undefined,
  'pg/lib/client.js': PgClient,
};

/** What stands in the place of globals, by their names. */
export const globals: Readonly<Record<string, unknown>> = {
  process,
  ...timers,
  'Date.now': () => turnOf()?.wall() ?? START,
  'performance.now': () => turnOf()?.world.now ?? 0,
  'Math.random': () => turnOf()?.started.chance.fraction() ?? Math.random(),
  'globalThis.crypto.getRandomValues': fill,
};
