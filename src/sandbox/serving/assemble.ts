/** Puts a sandbox together: store, data set, keys, server. Embedded, started or in a test, it is the same thing. */
import { dirname, join } from 'node:path';
import type { DataSet, LoadSize } from '../../contract/sandbox/admin.ts';
import type { DialectName } from '../../contract/sandbox/faults.ts';
import { notSent } from '../../core/errors.ts';
import type { Cents } from '../../core/money.ts';
import { Secret } from '../../core/secret.ts';
import { type IsRunning, isNamedGone, processName } from '../../files/processes.ts';
import type { Host } from '../../platform/host.ts';
import { TIMER_ACTIONS } from '../account/challenges.ts';
import { Archives } from '../archive/archives.ts';
import { deterministicIds } from '../calls/deterministic-ids.ts';
import { type ClockRow, REAL_CLOCK, sandboxNow, setClock } from '../clock/clock.ts';
import { createDispatcher, type DeliveryOptions } from '../delivery/dispatcher.ts';
import { ActiveDialect } from '../dialects/table.ts';
import { HANDLERS } from '../handlers/service.ts';
import { SERVICE_PATH } from '../http/request.ts';
import { InspectorSessions, type PageFiles } from '../page/inspector-sessions.ts';
import { RequestLog } from '../service/logs.ts';
import { runTimersUntil, type ServiceParts } from '../service/service.ts';
import { type IdForm, type Meta, openStore } from '../store/open.ts';
import type { Store } from '../store/queue.ts';
import { walletOf } from '../store/rows.ts';
import { privateSocket, serve } from './server.ts';

/** What a sandbox needs of its surroundings. */
export interface SandboxHost extends Pick<Host, 'clock' | 'random' | 'pid' | 'platform'> {
  /** Tells whether a pid is taken, for systems without /proc. */
  readonly isRunning?: IsRunning | undefined;
}

export interface Plan extends OpenPlan {
  readonly place: { readonly port: number } | 'socket';
}

/** What one sandbox is made of, however it is reached. */
export interface OpenPlan
  extends Pick<
    ServiceParts,
    'accounts' | 'onFault' | 'onStop' | 'rateLimits' | 'scenarios' | 'version' | 'virtualLimits' | 'webhookSecret'
  > {
  readonly host: SandboxHost;
  /** Path of the store or `memory`. */
  readonly path: string;
  /** Of a store made now: drawn, `derived` and `demo` when left out. */
  readonly seed?: number | undefined;
  readonly ids?: IdForm | undefined;
  readonly data?: DataSet | undefined;
  /** Of the data set `load`. */
  readonly size?: LoadSize | undefined;
  readonly wallet?: Cents | undefined;
  /** Set when given, also in a store that exists. */
  readonly clock?: ClockRow | undefined;
  /** Timers fire by themselves; without it before each request. */
  readonly liveTimers?: boolean | undefined;
  /** Files and books are looked through before anything is served. */
  readonly checked?: boolean | undefined;
  /** A store that exists must have been made with the seed and the data set that are asked for. */
  readonly insists?: boolean | undefined;
  /** Its API key and its admin token; fresh ones when left out. */
  readonly key?: Secret | undefined;
  readonly adminToken?: Secret | undefined;
  readonly dialect?: DialectName | undefined;
  /** Sent from the start on, or only when asked to. */
  readonly deliveries: DeliveryOptions & { readonly live: boolean };
  /** Files of the inspector's page; without it there is none. */
  readonly pageFiles?: (() => PageFiles) | undefined;
}

/** A sandbox that is reached. */
export type Assembled = Awaited<ReturnType<typeof assemble>>;

/** A sandbox that answers requests and does what falls due; nobody reaches it yet. */
export type Opened = Awaited<ReturnType<typeof openSandbox>>;

/**
 * Throws `check_failed` for a store that cannot be used or whose books do not agree, `unreachable` when the place is
 * taken.
 */
export async function assemble(plan: Plan) {
  const { host, place } = plan;
  const socket = place === 'socket' ? privateSocket(host) : undefined;
  let opened: Opened | undefined;
  const close = async () => {
    await opened?.close();
    socket?.remove();
  };
  try {
    opened = await openSandbox(plan);
    const { parts, instance, deliver } = opened;
    const { key, adminToken, activeDialect } = parts;
    const server = await serve(parts, socket ?? (place as { readonly port: number }));
    let stopped: Promise<void> | undefined;
    const stop = async () => {
      await server.stop();
      await close();
    };
    return {
      key,
      adminToken,
      /** Tells one store from another. */
      instance,
      /** Sends deliveries that are due: `deliver({ kind: 'idle', signal })` drains them. */
      deliver,
      /** `http://localhost` over a socket, `http://127.0.0.1:<port>` else. */
      origin: server.origin,
      /** Base address of the service, with `/v1`. */
      url: server.origin + SERVICE_PATH,
      ...(socket && { socketPath: socket.socketPath }),
      /** False when it speaks a dialect that ignores idempotency keys. */
      get honoursKeys() {
        return activeDialect.facts.honours_keys;
      },
      /** Finishes running requests, then ends what is sent, then the store, and frees the place. May be called more than once. */
      stop() {
        stopped ??= stop();
        return stopped;
      },
      [Symbol.asyncDispose]() {
        return this.stop();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Throws `check_failed` for a store that cannot be used or whose books do not agree. */
export async function openSandbox(plan: OpenPlan) {
  const {
    host,
    path,
    seed = Buffer.from(host.random.bytes(6)).readUIntBE(0, 6),
    ids = 'derived',
    data = 'demo',
    size,
    wallet,
    clock,
    onFault,
    pageFiles,
  } = plan;
  let isNew = false;
  const { store, meta } = await openStore({
    path,
    seed,
    ids,
    fill: async sql => {
      isNew = true;
      setClock(sql, clock ?? REAL_CLOCK);
      const now = sandboxNow(sql, host.clock.now());
      // Most commands find a store that is made, and look through none.
      const { loadDataSet } = await import('../data/load.ts');
      await loadDataSet(sql, { name: data, now, idSource: deterministicIds({ sql }), wallet, size });
    },
    ...host,
    onBroken: onFault,
  });
  try {
    if (plan.insists === true && !isNew) await checkStoreOptions(store, meta, plan);
    if (plan.checked === true) await (await import('../checks/invariants.ts')).checkWhole(store);
    if (clock !== undefined) await store.write(sql => setClock(sql, clock));
    const owner = processName(host.pid);
    const base: ServiceParts = {
      ...plan,
      ...host,
      store,
      owner,
      handlers: HANDLERS,
      timerActions: TIMER_ACTIONS,
      key: plan.key ?? randomSecret('sk_test_', host),
      adminToken: plan.adminToken ?? randomSecret('sandbox_', host),
      startedWith: { data, size, wallet },
      isGone: other => isNamedGone(other, owner, host.isRunning),
      activeDialect: new ActiveDialect(plan.dialect),
      requestLog: new RequestLog(),
      archives: new Archives({ ...host, folder: path === 'memory' ? undefined : join(dirname(path), 'snapshots') }),
      inspector: pageFiles && new InspectorSessions({ ...host, files: pageFiles }),
    };
    const sending = createDispatcher(base, plan.deliveries);
    const parts = plan.deliveries.live ? { ...base, dispatcher: sending } : base;
    const ticking = new AbortController();
    const timers = plan.liveTimers === true ? runTimersUntil(parts, ticking.signal) : undefined;
    return {
      parts,
      instance: meta.instance,
      deliver: sending.deliver,
      /** Ends timers, then what is sent, then the store. */
      async close() {
        ticking.abort();
        await timers;
        await parts.requestLog.flush(parts).catch(onFault);
        await sending.stop();
        await store.close();
        await parts.archives.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** 256 random bits: a fixed key would fall to a page that rebinds a name to loopback. */
export function randomSecret(prefix: string, { random }: Pick<SandboxHost, 'random'>): Secret {
  return new Secret(prefix + Buffer.from(random.bytes(32)).toString('base64url'));
}

// A store keeps the seed and the data set that it was made with. Others are refused, never silently ignored.

/** Throws `usage` when the store, which was there, was made with others than are asked for. */
async function checkStoreOptions(store: Store, meta: Meta, { seed, data, size = {} }: OpenPlan): Promise<void> {
  const { data_set: loaded } = await store.read(walletOf);
  // How many there were when it was made is not known any more.
  const isSized = Object.values(size).some(given => given !== undefined);
  if (!isSized && (seed ?? meta.seed) === meta.seed && (data ?? loaded) === loaded) return;
  throw notSent(
    'usage',
    `the sandbox store ${store.path} is there already, with data set ${loaded} and seed ${meta.seed}`,
    {
      notes: ['--seed, --data and the size of a data set are for a store that is made now. A reset takes them too.'],
      hint: 'cardwright sandbox reset --help',
    },
  );
}
