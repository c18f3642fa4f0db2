/** A server of the sandbox whose handlers a test can replace, on a memory store with a clock that is set. */

import { cents } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Clock } from '../../src/platform/host.ts';
import { TIMER_ACTIONS } from '../../src/sandbox/account/challenges.ts';
import { Archives } from '../../src/sandbox/archive/archives.ts';
import { deterministicIds } from '../../src/sandbox/calls/deterministic-ids.ts';
import type { Handlers } from '../../src/sandbox/calls/handler.ts';
import type { TimerActions } from '../../src/sandbox/clock/clock.ts';
import { loadDataSet } from '../../src/sandbox/data/load.ts';
import { ActiveDialect } from '../../src/sandbox/dialects/table.ts';
import { HANDLERS } from '../../src/sandbox/handlers/service.ts';
import { InspectorSessions, type PageFiles } from '../../src/sandbox/page/inspector-sessions.ts';
import { RequestLog } from '../../src/sandbox/service/logs.ts';
import type { ScenarioPlayer, ServiceParts } from '../../src/sandbox/service/service.ts';
import { type ServerLimits, serve } from '../../src/sandbox/serving/server.ts';
import { openStore } from '../../src/sandbox/store/open.ts';
import type { Store } from '../../src/sandbox/store/queue.ts';
import { idSource, type Served, setClock } from './sandbox-http.ts';

export const NOON = Date.parse('2026-11-20T12:00:00Z');

/** A page of nothing, for what stands around it. */
const PAGE_FILES: PageFiles = {
  'index.html': { type: 'text/html; charset=utf-8', text: '<!doctype html><title>page</title>' },
  'app.js': { type: 'text/javascript; charset=utf-8', text: 'void 0' },
  'icon.svg': { type: 'image/svg+xml', text: '<svg/>' },
  'way-in.html': { type: 'text/html; charset=utf-8', text: '<style>a{}</style>sandbox open<script>void 0</script>' },
};

export interface Wishes {
  readonly handlers?: Partial<Handlers>;
  readonly timerActions?: TimerActions;
  readonly rateLimits?: ServiceParts['rateLimits'];
  readonly isGone?: (owner: string) => boolean;
  /** Wraps the store, to let it fail. */
  readonly around?: (store: Store) => Store;
  readonly limits?: ServerLimits;
  /** By which tickets and sessions end. */
  readonly pageClock?: Pick<Clock, 'monotonic' | 'now'>;
  readonly scenarios?: ScenarioPlayer;
  /** Told that it is to end. */
  readonly onStop?: () => void;
}

export interface FakeService extends Served, AsyncDisposable {
  readonly store: Store;
  readonly parts: ServiceParts;
  readonly clock: ReturnType<typeof setClock>;
  /** Errors nobody expected. */
  readonly faults: unknown[];
}

export async function fakeService(options: Wishes = {}): Promise<FakeService> {
  const clock = setClock(NOON);
  const { store } = await openStore({
    path: 'memory',
    seed: 1,
    ids: 'derived',
    fill: sql =>
      loadDataSet(sql, {
        name: 'empty',
        now: NOON,
        idSource: deterministicIds({ sql }),
        wallet: cents(100_000),
      }),
    clock,
    random: idSource,
    platform: process.platform,
  });
  const faults: unknown[] = [];
  const parts: ServiceParts = {
    store: options.around?.(store) ?? store,
    handlers: { ...HANDLERS, ...options.handlers },
    timerActions: options.timerActions ?? TIMER_ACTIONS,
    key: new Secret('sk_test_right'),
    adminToken: new Secret('sandbox_right'),
    clock,
    random: idSource,
    owner: 'us',
    startedWith: { data: 'demo' },
    isGone: options.isGone ?? (() => false),
    rateLimits: options.rateLimits ?? 'none',
    activeDialect: new ActiveDialect(),
    requestLog: new RequestLog(),
    scenarios: options.scenarios,
    archives: new Archives({ clock, random: idSource, platform: process.platform }),
    platform: process.platform,
    inspector: new InspectorSessions({ clock: options.pageClock ?? clock, random: idSource, files: () => PAGE_FILES }),
    version: '1.2.3',
    pid: 1,
    ...(options.onStop && { onStop: options.onStop }),
    onFault: error => void faults.push(error),
  };
  const server = await serve(parts, { port: 0 }, options.limits);
  return {
    url: `${server.origin}/v1`,
    key: parts.key,
    adminToken: parts.adminToken,
    store,
    parts,
    clock,
    faults,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await store.close();
      await parts.archives.close();
    },
  };
}
