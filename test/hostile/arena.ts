/**
 * Where the cells are played: the program in this process before one hostile service, on a clock that waiting moves at
 * once, so that a cell costs milliseconds. Each cell has folders of its own, which begin as a probe of the keys left them.
 */

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acceptPlace, hasJournal, openSqlite } from '../../src/journal/sqlite.ts';
import type { Clock } from '../../src/platform/host.ts';
import type { BookOptions } from '../support/card-books.ts';
import { random } from '../support/clocks.ts';
import { type HostileService, hostileService } from '../support/hostile-service.ts';
import { type Ran, world } from '../support/world.ts';

export const TEST_KEY = 'sk_test_hostile_first_5d1c';
export const OTHER_TEST_KEY = 'sk_test_hostile_second_77aa';
export const LIVE_KEY = 'sk_live_hostile_third_09fe';

/** What an earlier probe left behind: of this key, or of another key of the same address. */
export type Known = 'unknown' | 'honoured' | 'ignored' | 'other key honoured';
export type Mode = 'test' | 'live';

const START = Date.parse('2026-11-20T14:00:00Z');
/** An odd limit for requests and leases, so that a sleep of about so long is known as a deadline: it never ends. */
export const PATIENCE = '41s';
const DEADLINES_MS = { from: 40_000, to: 41_000 };

export interface ArenaClock extends Clock {
  /** ms that were waited: without the time that the machine takes, which is passed on too. */
  waited(): number;
  /** Both clocks go on by so much, as while nobody is there. */
  pass(ms: number): void;
  /** In the next pause the wall clock goes on by so much, as while a laptop sleeps. */
  doze(ms: number): void;
  /** The wall clock is set ahead of the true time, which the service has. */
  setAhead(ms: number): void;
  trueNow(): number;
}

export interface Arena extends AsyncDisposable {
  readonly service: HostileService;
  readonly clock: ArenaClock;
  /** Opens folders for one cell; with an account, its books begin so. */
  enter(known: Known, mode: Mode, account?: BookOptions): Promise<Place>;
}

export interface Place extends AsyncDisposable {
  /** Runs a command line with the key of this place. */
  run(line: string, stdin?: string): Promise<Ran>;
  readonly key: string;
}

function arenaClock(): ArenaClock {
  let [wall, monotonic, dozed, waited, ahead] = [0, 0, 0, 0, 0];
  const trueNow = () => Math.floor(START + wall + performance.now());
  const pass = (ms: number) => {
    wall += ms;
    monotonic += ms;
  };
  return {
    trueNow,
    now: () => trueNow() + ahead,
    setAhead: ms => {
      ahead = ms;
    },
    monotonic: () => monotonic + performance.now(),
    waited: () => waited,
    pass,
    doze: ms => {
      dozed = ms;
    },
    async sleep(ms, signal) {
      if (ms >= DEADLINES_MS.from && ms <= DEADLINES_MS.to) return until(ms, signal);
      pass(ms);
      waited += ms;
      wall += dozed;
      dozed = 0;
      await new Promise(resolve => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}

function until(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms).unref();
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export async function arena(): Promise<Arena> {
  const clock = arenaClock();
  const service = await hostileService({ now: clock.trueNow });
  const here = await world();
  const certificate = join(here.folder, 'hostile.pem');
  await writeFile(certificate, service.certificate);
  const templates = new Map<string, Promise<string | undefined>>();
  const environment = (folder: string, key: string, isPublic: boolean) => ({
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_CONFIG_DIR: folder,
    CARDWRIGHT_API_KEY: key,
    CARDWRIGHT_BASE_URL: isPublic ? service.publicUrl : service.baseUrl,
    ...(isPublic ? { HTTPS_PROXY: service.proxyUrl, SSL_CERT_FILE: certificate } : {}),
  });
  const folderIn = () => mkdtemp(join(here.folder, 'cell-'));

  /** Folders after a probe, made once. */
  async function probed(known: Known, isPublic: boolean): Promise<string | undefined> {
    if (known === 'unknown') return undefined;
    const folder = await folderIn();
    const key = known === 'other key honoured' ? OTHER_TEST_KEY : TEST_KEY;
    service.reset({ [key]: { keys: known === 'ignored' ? 'ignored' : 'honoured' } });
    const env = environment(folder, key, isPublic);
    const { code, out, err } = await here.run(`contract check --probe-idempotency --yes --timeout ${PATIENCE} --json`, {
      env,
      clock,
    });
    const learned = new Set([...out.matchAll(/"result": "(honoured|ignored|unknown)"/g)].map(([, result]) => result));
    if ([...learned].join() !== (known === 'ignored' ? 'ignored' : 'honoured')) {
      throw new Error(`the probe of an honest service taught ${[...learned].join()}, exit ${code}: ${err}`);
    }
    return folder;
  }

  return {
    service,
    clock,
    async enter(known, mode, account) {
      const isPublic = mode === 'live' || known === 'other key honoured';
      const name = `${known} ${isPublic}`;
      if (!templates.has(name)) templates.set(name, probed(known, isPublic));
      const template = await templates.get(name);
      const folder = await folderIn();
      if (template !== undefined) await cp(template, folder, { recursive: true });
      // A copy of a journal is refused until somebody accepts it.
      const stateFolder = join(folder, 'state');
      if (hasJournal(stateFolder)) {
        const files = { platform: process.platform, random, warn: () => undefined };
        const database = await openSqlite({ stateFolder, files, clock, isAccepting: true });
        await acceptPlace(database);
        await database.close();
        await rm(join(folder, 'config', 'known-states.json'), { force: true });
      }
      const key = mode === 'live' ? LIVE_KEY : TEST_KEY;
      if (account !== undefined) service.reset({ [key]: account });
      const env = environment(folder, key, isPublic);
      const suffix = mode === 'live' ? ' --yes --live env' : ' --yes';
      return {
        key,
        run: (line, stdin) => {
          const [command = '', child] = line.split(' -- ');
          const whole = `${command}${suffix} --timeout ${PATIENCE} --json${child === undefined ? '' : ` -- ${child}`}`;
          return here.run(whole, { env, clock, ...(stdin === undefined ? {} : { stdin }) });
        },
        [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
      };
    },
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}
