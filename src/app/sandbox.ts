/** Sandboxes that serve: the one of this machine, in the background, for one program, with scenarios; and its state as a file. */
import { spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ResultOf } from '../contract/operation.ts';
import type { AccountsServerOptions, AdminOperations, ServerOptions } from '../contract/sandbox/admin.ts';
import { CliError, type ErrorKind, notSent, usage } from '../core/errors.ts';
import { isObject, jsonOrUndefined } from '../core/objects.ts';
import { preparePrivateFolder, systemCode } from '../files/private-files.ts';
import { foldersFor } from '../platform/folders.ts';
import { within } from '../platform/time.ts';
import type { PageFiles } from '../sandbox/page/inspector-sessions.ts';
import type { ScenarioPlayer, ScenarioRun, Stage } from '../sandbox/service/service.ts';
import { findServer, resetHard, type Serving, startServer, stopServer } from '../sandbox/serving/started.ts';
import type { StepDone } from '../scenario/scenario.ts';
import { openInput } from './context-files.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

/** A server that is there. No secret in it: the key stands in the file. */
export interface ServerRow {
  /** Base address of the service, for `CARDWRIGHT_BASE_URL`. */
  readonly url: string;
  readonly pid: number;
  readonly started_at: string;
  readonly store: string;
  /** Undefined for a server of many accounts: each has a key of its own. */
  readonly api_key_file?: string;
}

/** What came of putting a snapshot back. */
export type Restored = ResultOf<AdminOperations['snapshots.restore']>;

export type PrivateSandboxOptions = Pick<ServerOptions, 'dialect' | 'seed' | 'data' | 'size' | 'rateLimits'>;

/** The sandbox of this machine as a server for other programs, and the state of the one that is steered as a file. */
export function sandboxesOf(run: Run) {
  const { host, opened, files } = run;
  const find = () => findServer(host.folders.data, files);
  const running = async () => {
    const found = await find();
    return found && rowOf(host, found);
  };
  return {
    /**
     * Serves the store of the data folder from this process. Throws `guarded` when a sandbox is started on it already,
     * `unreachable` for a taken port, `check_failed` for a store that is not whole, `usage` for another seed or data set.
     */
    async start(options: ServerOptions) {
      const { readyFile } = options;
      const ready = readyFile === undefined ? undefined : resolve(host.cwd, readyFile);
      const started = await startServer(surroundings(run), { ...options, readyFile: ready });
      return served(run, rowOf(host, { ...started.facts, keyFile: started.keyFile }), started);
    },
    /** Serves a folder of accounts from this process. Throws `guarded` when another server has it, `unreachable`. */
    async startAccounts(options: AccountsServerOptions) {
      const { startAccounts } = await import('../sandbox/serving/accounts.ts');
      const accounts = resolve(host.cwd, options.accounts);
      const started = await startAccounts(surroundings(run), { ...options, accounts });
      const started_at = new Date(host.clock.now()).toISOString();
      return served(run, { url: started.url, pid: host.pid, started_at, store: accounts }, started);
    },
    /** The one that is started on the store of the data folder and has proved to be it. */
    running,
    /**
     * The control surface of the one that is started on the store of the data folder, which alone sends what is due
     * there; undefined when none is, or when a sandbox elsewhere is steered.
     */
    async control() {
      if ((await opened.sandboxElsewhere()) !== undefined) return undefined;
      await opened.checkSandboxIsMeant();
      const found = await find();
      return found && opened.adminAt(found.origin, found.adminToken);
    },
    /** Starts the server in a process of its own, which goes on when this one ends. Resolves when it answers. */
    detach: (options: ServerOptions) => startDaemon(run, options, running),
    /** A sandbox with a store of its own in a temporary folder. Throws `unreachable` when it cannot be started. */
    async openPrivate(options: PrivateSandboxOptions) {
      const made = await openPrivate(run, options);
      opened.onClose(() => made.close());
      return made;
    },
    /** Ends it; resolves when its port is free. Throws `unreachable` when there is none, `wait_expired`. */
    async stop() {
      const found = await find();
      if (found === undefined)
        throw notSent('unreachable', 'no sandbox is started for this store', 'cardwright sandbox start');
      await stopServer(found, host);
      return rowOf(host, found);
    },
    /**
     * Everything the sandbox holds into a file of the user: 0600, whole or not at all. Resolves to the bytes written. Throws
     * `guarded` for a file of that name which is no export, `usage` where none can be made.
     */
    async exportTo(path: string): Promise<number> {
      const { exportedFrom } = await import('../client/sandbox-file.ts');
      const { writeAtomically } = await import('../files/users-file.ts');
      const { SNAPSHOT_MARK } = await import('../contract/sandbox/snapshots.ts');
      const { cwd, platform, noise: random, signal } = host;
      const { key, ...place } = await opened.adminPlace();
      // A file called - would surprise, and an export is written whole or not at all.
      if (path === '-')
        throw usage('an export needs a file and cannot go to standard output; ./- is a file of that name');
      const pieces = exportedFrom({ ...place, token: await key(), signal });
      return writeAtomically(resolve(cwd, path), pieces, { random, platform, name: path, mark: SNAPSHOT_MARK });
    },
    /** Replaces everything that the sandbox holds with the content of an export. Throws `usage` when it cannot be read. */
    async importFrom(path: string): Promise<Restored> {
      const { importInto } = await import('../client/sandbox-file.ts');
      await using input = await openInput(run, path);
      const { key, ...place } = await opened.adminPlace();
      const restored = await importInto({ ...place, token: await key(), signal: host.signal }, input.pieces);
      return restored as Restored;
    },
    /** Moves the files of the store aside without reading them. Resolves to the new file names. Throws `guarded` while a started sandbox serves it. */
    async moveAside(): Promise<readonly string[]> {
      return resetHard(host);
    },
  };
}

/** What a server that is started here takes of the machine. */
function surroundings(run: Run) {
  const { host, version, warn } = run;
  const { folders, clock, random, noise, pid, platform, isRunning } = host;
  host.keepSmall();
  return {
    ...{ folders, clock, random, noise, pid, platform, isRunning, version, pageFiles, warn },
    scenarios: scenarioPlayer(run),
    onFault: (error: unknown) => warn(error instanceof Error ? error.message : String(error)),
  };
}

/** What was started serves until a signal comes, and is ended with this run. */
function served({ host, opened }: Run, row: ServerRow, started: Serving) {
  opened.onClose(async () => {
    started.stop();
    // Whoever serves was told how it ended.
    await started.ended.catch(() => undefined);
  });
  return {
    row,
    /** Serves until it is stopped or a signal comes; rejects with `check_failed` when the store broke. */
    async serve(): Promise<void> {
      const { signal } = host;
      if (signal.aborted) started.stop();
      signal.addEventListener('abort', () => started.stop(), { once: true });
      await started.ended;
    },
  };
}

type Found = Pick<ServerRow, 'url' | 'pid' | 'started_at'> & { readonly keyFile: string };

function rowOf({ folders }: AppHost, { url, pid, started_at, keyFile }: Found): ServerRow {
  return { url, pid, started_at, store: resolve(folders.data, 'sandbox', 'store.db'), api_key_file: keyFile };
}

declare const BUNDLED_FILE: ((name: string) => Uint8Array) | undefined;

/** Read when it is asked for. Of a program that was not built there is a page that says so. */
function pageFiles(): PageFiles {
  if (typeof BUNDLED_FILE !== 'undefined')
    return JSON.parse(Buffer.from(BUNDLED_FILE('inspector.json')).toString('utf8')) as PageFiles;
  const text = '<!doctype html><title>cardwright</title>Not built.';
  return { 'index.html': { type: 'text/html; charset=utf-8', text } };
}

/** ms until the first answer: a large data set is made first, and a large store is looked through. */
const PATIENCE = 600_000;
const LOOK_EVERY = 25;

/** Throws what the other process reported, `unreachable` when it does not answer in time. */
async function startDaemon(
  { host, files }: Run,
  options: ServerOptions,
  running: () => Promise<ServerRow | undefined>,
): Promise<ServerRow & { readonly log: string }> {
  const { clock, folders, signal } = host;
  const log = join(folders.state, 'sandbox.log');
  for (const folder of [folders.state, folders.data]) await preparePrivateFolder(folder, files);
  const output = await open(log, 'w', 0o600);
  const [node, ...program] = host.program;
  const child = spawn(node, [...program, 'sandbox', 'start', '--json', ...wordsOf(host, options)], {
    // The folder of this shell may be removed while the sandbox is there.
    cwd: folders.data,
    env: host.env,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
    windowsHide: true,
  });
  let ended: string | undefined;
  child.once('error', error => {
    ended = error.message;
  });
  child.once('exit', (code, by) => {
    ended ??= `it ended with ${by ?? code}`;
  });
  try {
    const begun = clock.monotonic();
    while (ended === undefined && clock.monotonic() - begun < PATIENCE) {
      await clock.sleep(LOOK_EVERY, signal);
      const row = await running();
      if (row?.pid === child.pid && row !== undefined) return { ...row, log };
    }
    const reported = errorIn(await readFile(log, 'utf8'));
    if (reported !== undefined) throw notSent(reported.kind, reported.message, reported.hint ?? {});
    const why = ended ?? `it did not answer within ${PATIENCE / 1000} s`;
    throw notSent('unreachable', `the sandbox did not start: ${why}`, {
      notes: [`Its output is in ${log}.`],
      hint: 'cardwright sandbox start',
    });
  } catch (error) {
    if (ended === undefined) child.kill();
    throw error;
  } finally {
    await output.close();
    child.unref();
  }
}

function wordsOf({ cwd }: AppHost, options: ServerOptions): readonly string[] {
  const { port, dialect, seed, data, size, rateLimits, allowRemoteWebhooks, readyFile } = options;
  const file = readyFile === undefined ? undefined : resolve(cwd, readyFile);
  const given = { port, dialect, seed, data, ...size, 'ready-file': file };
  return [
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    ...(rateLimits ? [] : ['--no-rate-limits']),
    ...(allowRemoteWebhooks ? ['--allow-remote-webhooks'] : []),
  ];
}

interface ReportedError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly notes?: readonly string[];
  readonly hint?: string;
  readonly faults?: readonly { readonly text: string }[];
}

/** The error that a run of this program wrote as its last line; undefined for output that ends otherwise. */
function errorIn(output: string): ReportedError | undefined {
  const last = jsonOrUndefined(output.trimEnd().split('\n').at(-1) ?? '');
  return (last as { readonly error?: ReportedError } | undefined)?.error;
}

const FOLDER = 'cardwright-exec-';

/** A sandbox with a store of its own in a temporary folder. Throws `unreachable` when it cannot be started. */
async function openPrivate({ host, version, warn, opened }: Run, options: PrivateSandboxOptions) {
  const { assemble, randomSecret } = await import('../sandbox/serving/assemble.ts');
  const { privateFolder } = await import('../files/private-files.ts');
  const { storeFile, storeFolder } = await import('../sandbox/serving/start.ts');
  const { clock, pid, platform, random, isRunning } = host;
  let folder = '';
  const remove = () => rm(folder, { recursive: true, force: true });
  const webhookSecret = randomSecret('whsec_', host);
  const start = async () => {
    folder = await mkdtemp(join(tmpdir(), FOLDER));
    // Where `--sandbox` looks under CARDWRIGHT_CONFIG_DIR: in the program it is this very store.
    const { data } = foldersFor({ env: { CARDWRIGHT_CONFIG_DIR: folder }, platform, home: folder, temporary: folder });
    privateFolder(storeFolder(data), platform);
    return assemble({
      ...options,
      host: { clock, pid, platform, random, isRunning },
      path: storeFile(data),
      place: { port: 0 },
      rateLimits: options.rateLimits ? 'all' : 'none',
      liveTimers: true,
      deliveries: { live: true },
      webhookSecret,
      version,
      onFault: error => warn(error instanceof Error ? error.message : String(error)),
    });
  };
  const made = await start().catch(async (error: unknown) => {
    if (folder !== '') await remove();
    const isOurs = error instanceof CliError;
    if (isOurs ? error.kind === 'usage' : systemCode(error) === undefined) throw error;
    const { message } = error as Error;
    throw notSent('unreachable', `the sandbox did not start, and the program was not run: ${message}`, {
      ...(isOurs && error.facts),
      cause: error,
    });
  });
  return {
    admin: await opened.adminAt(made.origin, made.adminToken),
    /** Runs the program with the sandbox in its environment, and nothing else of ours; resolves to how it ended. */
    async run(program: readonly string[]) {
      const { runProgram } = await import('./programs.ts');
      const env = { ...environmentFor(host, made, folder), CARDWRIGHT_WEBHOOK_SECRET: webhookSecret.expose() };
      return runProgram(host, program, { env, secondKills: true });
    },
    /** Sends deliveries that are due, for at most so many milliseconds. */
    drain: async (ms: number) => void (await within(ms, clock, signal => made.deliver({ kind: 'idle', signal }))),
    /** Frees the port, closes the store and removes its folder. May be called more than once. */
    close: () => made.stop().then(remove),
  };
}

/** Variables of a program that speaks to a sandbox and steers it: profiles, keys and dialects of the user are not its own. */
function environmentFor({ env }: Pick<AppHost, 'env'>, { origin, key, adminToken }: Stage, folder: string | undefined) {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('CARDWRIGHT_'))),
    CARDWRIGHT_BASE_URL: `${origin}/v1`,
    CARDWRIGHT_API_KEY: key.expose(),
    CARDWRIGHT_SANDBOX_URL: origin,
    CARDWRIGHT_SANDBOX_TOKEN: adminToken.expose(),
    CARDWRIGHT_TEST_ONLY: '1',
    ...(folder !== undefined && { CARDWRIGHT_CONFIG_DIR: folder }),
  };
}

type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** Runs that are remembered. */
const MOST_RUNS = 20;

function scenarioPlayer(run: Run): ScenarioPlayer {
  const runs = new Map<string, ScenarioRun>();
  let isPlaying = false;
  return {
    async examples() {
      const { EXAMPLES } = await import('../scenario/examples.ts');
      return Object.entries(EXAMPLES).map(([name, text]) => ({ name, text }));
    },
    async check(text) {
      const { readScenario } = await import('../scenario/scenario.ts');
      try {
        const { name, steps } = readScenario(text, 'scenario');
        return { name, steps: steps.length, problems: [] };
      } catch (error) {
        if (!(error instanceof CliError) || error.kind !== 'usage') throw error;
        const { faults = [{ line: 1, column: 1, text: error.message }] } = error.facts;
        const problems = faults.map(({ line, column, text: said }) => ({ line, column, text: said }));
        return { name: null, steps: 0, problems };
      }
    },
    async play(text, stage) {
      const { readScenario } = await import('../scenario/scenario.ts');
      const told = readScenario(text, 'scenario').steps;
      if (isPlaying) return undefined;
      isPlaying = true;
      const steps = told.map(({ nth: step, line, operation }): Changing<ScenarioRun['steps'][number]> => {
        return { step, line, operation: operation.name, state: 'waiting', outcome: null, id: null, says: null };
      });
      const id = `run_${Buffer.from(run.host.noise.bytes(8)).toString('hex')}`;
      const made: Changing<ScenarioRun> = { id, state: 'running', steps, says: null };
      runs.set(id, made);
      for (const old of [...runs.keys()].slice(0, -MOST_RUNS)) runs.delete(old);
      void played(run, text, stage, ({ step, outcome, id: of }) => {
        Object.assign(steps[step - 1] ?? {}, { state: 'as_expected', outcome, id: of });
      }).then(failure => {
        isPlaying = false;
        made.state = failure === undefined ? 'as_expected' : 'failed';
        if (failure === undefined) return;
        const { kind, message, notes = [], faults } = failure;
        made.says = [message, ...notes].join('\n');
        // The first that was not done is the one that failed; without a fault of a step nobody knows how far it came.
        const fault = kind === 'check_failed' ? faults?.map(each => each.text).join('\n') : undefined;
        const [first, ...others] = steps.filter(({ state }) => state === 'waiting');
        if (first !== undefined)
          Object.assign(first, fault === undefined ? { state: 'not_done' } : { state: 'failed', says: fault });
        for (const step of others) step.state = 'not_done';
      });
      return made;
    },
    find: id => runs.get(id),
  };
}

/** `onStep` is told of each step once it is done. Resolves to what went wrong; never rejects. */
async function played(
  run: Run,
  text: string,
  stage: Stage,
  onStep: (step: StepDone) => void,
): Promise<Omit<ReportedError, 'hint'> | undefined> {
  const { runLine } = await import('./programs.ts');
  const words = ['sandbox', 'simulate', 'run', '-', '--yes', '--no-input', '-o', 'ndjson'];
  const { code, err } = await runLine(run, words, {
    stdin: text,
    // Its folders are those of the server.
    env: environmentFor(run.host, stage, run.host.env['CARDWRIGHT_CONFIG_DIR']),
    onOut(lines) {
      for (const line of lines.trimEnd().split('\n')) {
        const done = jsonOrUndefined(line);
        if (isObject(done)) onStep(done as unknown as StepDone);
      }
    },
  });
  return code === 0 ? undefined : (errorIn(err) ?? { kind: 'internal', message: `It ended with ${code}. ${err}` });
}
