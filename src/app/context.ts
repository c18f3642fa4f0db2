/** What a command's context can do, put together by concern. Costly things are opened once, when first asked for. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  CommandTraits,
  Context,
  ContextSandbox,
  SandboxServers,
  StartedBrowser,
  ToolHost,
} from '../cli/context.ts';
import type { Globals } from '../cli/parsing/globals.ts';
import type { OpenContext } from '../cli/run.ts';
import type { ReadName } from '../contract/calls.ts';
import type { Reader, ReadOptions, Service } from '../contract/service.ts';
import { asCliError, CliError } from '../core/errors.ts';
import { createPrivate, preparePrivateFolder } from '../files/private-files.ts';
import {
  LIMIT_NAMES,
  limitWords,
  readLimits,
  type SourcedLimits,
  type StrictestLimits,
  sourceWords,
  strictest,
} from '../limits/limits.ts';
import { readManagedLimits } from '../limits/managed-file.ts';
import type { InputStream, OutputStream } from '../platform/host.ts';
import { programIn } from '../platform/programs.ts';
import { type Connections, connections, once } from './connections.ts';
import { contextFiles, openInput } from './context-files.ts';
import { contextWrites } from './context-writes.ts';
import type { AppHost } from './process-host.ts';
import { sandboxServersFor } from './sandbox-server.ts';
import type { ControlAddress } from './sandbox-started.ts';
import { openTerminal } from './terminal.ts';

export interface Opening extends CommandTraits {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  readonly redactions: ((text: string) => string)[];
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** Words after `--`. */
  readonly rest: readonly string[];
}

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening): OpenContext {
  const { host, version, globals } = opening;
  const terminal = openTerminal(opening);
  const { stdin, prompts, progress, notice, warn, canAsk, life } = terminal;
  const opened = connections({ ...opening, notice, trace: terminal.trace, life });
  const reader = once(async () => readerOf(await opened.service(), opened.noteShown));
  const limits = runLimits(host, opened);
  const writes = contextWrites(opening, { opened, terminal, reader, limits });
  const { journal } = writes;
  const servers = sandboxServersFor({ ...opened, host, version, notice, keys: opening.keys });
  // The time of the service, as its answers tell it; ours until there is one. ms UTC.
  const serviceNow = () => opened.serviceNow() ?? host.clock.now();
  const context: Context = {
    version,
    ...{ clock: host.clock, random: host.random, env: host.env, platform: host.platform },
    ...{ signal: host.signal, rest: opening.rest },
    ...{ dryRun: globals.dryRun, csvRaw: globals.csvRaw, sorted: globals.sort !== undefined },
    ...{ requestTimeoutMs: globals.timeoutMs, profileName: globals.profile },
    api: {
      serviceNow,
      async askServiceTime() {
        if (opened.serviceNow() !== undefined) return serviceNow();
        // Any answer tells the time.
        await (await reader()).read('wallet.get', {}).catch((thrown: unknown) => {
          if (!['refused', 'not_found', 'contract_mismatch'].includes(asCliError(thrown).kind)) throw thrown;
        });
        return serviceNow();
      },
      identity: opened.identity,
      limits: limits.shown,
      overrides: opened.overrides,
      reader,
      read: async (operation, input, options) => (await reader()).read(operation, input, options),
      async write(operation, input, ...more) {
        const made = await writes.write(operation, input, ...more);
        opened.noteShown(operation, input as Values, made.result);
        return made;
      },
      mirror: once(async () => {
        const { mirrorFor } = await import('./mirror.ts');
        return mirrorFor({ host, opened, reader, journal: journal.open, progress, life, warn });
      }),
    },
    journal,
    sandbox: contextSandbox(host, opened, stdin, servers),
    ui: {
      ...{ prompts, progress, notice, canAsk, maskInLog: terminal.maskInLog },
      ...{ ask: writes.ask, confirmCount: writes.confirmCount },
      yes: globals.yes,
      forPeople: host.streams.stdout.isTerminal && !globals.machine && !globals.quiet,
    },
    files: contextFiles(host, stdin, warn),
    reveal: async (cardId, options) => (await writes.gate()).reveal(cardId, options),
    runWithCard: async (cardId, options) => (await writes.gate()).runWithCard(cardId, options),
    checkRunWithCard: async options => (await writes.gate()).checkRunWithCard(options),
    openBrowser: address => openBrowser(host, address),
    takeSignals: onSignal => host.handOver(onSignal),
    async processes() {
      const { isNamedGone, processName } = await import('../files/lock.ts');
      const own = processName(host.pid);
      return { own, isGone: name => isNamedGone(name, own, pid => host.isRunning(pid)) };
    },
    toolHost: () => toolHost({ host, version, globals }),
    runProgram: (program, variables) =>
      runForAccount({ host, globals, opened, stdin }, program, { variables, handsKeys: true }),
    profiles: once(async () => {
      const { profilesFor } = await import('./profiles.ts');
      return profilesFor(host, notice);
    }),
    async diagnose() {
      const { doctorFor } = await import('./doctor.ts');
      return doctorFor({ host, opened, audit: journal.audit, limits: limits.shown, journal: journal.open });
    },
  };
  return {
    context,
    async close(answer) {
      life.end();
      // What is left undone here is looked at by the next command; the answer stands.
      for (const work of writes.afterAnswer)
        await work(answer).catch((thrown: unknown) => warn((thrown as Error).message));
      await progress.written();
      await opened.close();
      await servers.close();
    },
  };
}

/** Reading operations alone, the bare results. */
type Values = Readonly<Record<string, unknown>>;

function readerOf(service: Service, noteShown: Connections['noteShown']): Reader {
  async function* noted<Page>(pages: AsyncIterable<Page>, operation: string, input: Values) {
    for await (const page of pages) {
      noteShown(operation, input, page);
      yield page;
    }
  }
  return {
    read: async <N extends ReadName>(operation: N, input: Parameters<Reader['read']>[1], options?: ReadOptions) => {
      const { result } = await service.send(operation, input as never, options);
      noteShown(operation, input as Values, result);
      return result as never;
    },
    pages: (operation, input, options) => noted(service.pages(operation, input, options), operation, input as Values),
  };
}

/** A limit for people. */
export interface ShownLimit {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

export type RunLimits = ReturnType<typeof runLimits>;

function runLimits(host: AppHost, opened: Connections) {
  const managed = once(async () => {
    const { mode, baseUrl } = await opened.identity();
    return readManagedLimits(host.limitsFile, mode === 'sandbox' ? undefined : new URL(baseUrl).origin);
  });
  const sources = once(async (): Promise<readonly SourcedLimits[]> => {
    const [{ profile }, settings] = [await opened.identity(), await opened.settings()];
    const read = readLimits(settings);
    if ('wrong' in read)
      throw new CliError('internal', { message: `${read.wrong} of profile ${profile} cannot be read` });
    const own: SourcedLimits = { source: { kind: 'profile', name: profile }, limits: read.limits };
    return [...(await managed()).sources, own];
  });
  return {
    /** Throws `guarded` for a managed file that does not count. */
    managed,
    sources,
    strictest: async (): Promise<StrictestLimits> => strictest(await sources()),
    /** Each limit that is set, and by whom. */
    async shown(): Promise<readonly ShownLimit[]> {
      const limits = strictest(await sources());
      const { reveal, path } = await managed();
      const shown = LIMIT_NAMES.flatMap(name => {
        const set = limits[name];
        return set === undefined ? [] : [{ name, value: limitWords(name, set.value), source: sourceWords(set.source) }];
      });
      return reveal === undefined ? shown : [...shown, { name: 'reveal', value: reveal, source: path }];
    },
  };
}

/** Options of this run that each command of a server of tools has as well. */
function chosenOptions({ sandbox, timeoutMs, ...globals }: Globals): readonly string[] {
  const names = ['live', 'contract', 'journal', ...(sandbox ? [] : ['profile' as const])] as const;
  return [
    ...(sandbox ? ['--sandbox'] : []),
    ...names.flatMap(name => (globals[name] === undefined ? [] : [`--${name}=${globals[name]}`])),
    ...(timeoutMs === undefined ? [] : [`--timeout=${Math.ceil(timeoutMs / 1000)}s`]),
  ];
}

function toolHost({ host, version, globals }: Pick<Opening, 'host' | 'version' | 'globals'>): ToolHost {
  return {
    input: host.promptInput as AsyncIterable<string | Uint8Array>,
    write: text => host.streams.stdout.write(text),
    async run(words, { stdin = '' } = {}) {
      const [{ compose, replaced }, { run }] = await Promise.all([import('./compose.ts'), import('../cli/run.ts')]);
      const written = { out: '', err: '' };
      const stream = (to: keyof typeof written): OutputStream => ({
        isTerminal: false,
        columns: undefined,
        closed: false,
        async write(text) {
          written[to] += typeof text === 'string' ? text : Buffer.from(text).toString();
        },
      });
      const given = Buffer.from(stdin);
      const streams = {
        stdin: { isTerminal: false, readAll: async () => stdin, readBytes: async () => given },
        stdout: stream('out'),
        stderr: stream('err'),
      };
      // Whoever configured the server has agreed to its bounds; approvals are asked of a person all the same.
      const argv = ['--json', '--no-input', '--yes', ...chosenOptions(globals), ...words];
      const quiet = replaced(replaced(replaced(host, 'streams', streams), 'argv', argv), 'hidesPrograms', true);
      return { code: await run(compose(quiet, version)), ...written };
    },
  };
}

/**
 * Runs a program that acts for the account of this run or for none; with `handsKeys` it gets the key of the environment too.
 * Resolves to its exit code.
 */
export async function runForAccount(
  {
    host,
    globals,
    opened,
    stdin,
  }: Pick<Opening, 'host' | 'globals'> & {
    readonly opened: Connections;
    readonly stdin: InputStream;
  },
  program: readonly string[],
  { variables, handsKeys }: { readonly variables: Readonly<Record<string, string>>; readonly handsKeys: boolean },
): Promise<number> {
  const { runChild } = await import('../cli/child.ts');
  const { programEnvironment } = await import('../profile/resolve.ts');
  const { cwd, platform } = host;
  const identity = await opened.identity().catch(thrown => {
    if (thrown instanceof CliError && thrown.kind === 'not_authenticated') return undefined;
    throw thrown;
  });
  const contract = globals.contract === undefined ? undefined : resolve(cwd, globals.contract);
  const env = { ...programEnvironment(host.env, { identity, contract, handsKeys }), ...variables };
  const handOver = (onSignal: (signal: NodeJS.Signals) => void) => host.handOver(onSignal);
  const isHidden = host.hidesPrograms === true;
  return runChild(program, { env, cwd, platform, handOver, sharesTerminal: stdin.isTerminal, isHidden });
}

/** What opens a file with the program meant for it. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};
const OTHER_OPENERS = ['xdg-open', 'sensible-browser'];

/** Never waits for the browser, which may go on for hours. */
async function openBrowser(host: AppHost, address: string): Promise<StartedBrowser> {
  const { platform, noise, folders, programFolders } = host;
  await preparePrivateFolder(folders.runtime, { platform, random: noise, warn: () => undefined });
  const file = join(folders.runtime, `inspector-${Buffer.from(noise.bytes(8)).toString('hex')}.html`);
  const names = OPENERS[platform] ?? OTHER_OPENERS;
  const [opener] = (await Promise.all(names.map(name => programIn(programFolders, name)))).filter(Boolean);
  if (opener === undefined) return { started: false, remove: async () => undefined };
  await createPrivate(file, leadingTo(address));
  const remove = () => rm(file, { force: true });
  return { started: await isStarted(host, opener, pathToFileURL(file).href), remove };
}

/** A page that goes to the address; nothing in it is a script. */
function leadingTo(address: string): string {
  const target = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return [
    '<!doctype html><meta charset="utf-8"><title>cardwright</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${target}">\n`,
  ].join('');
}

/** The browser needs its display, not our keys. */
async function isStarted({ env }: AppHost, opener: string, file: string): Promise<boolean> {
  const { spawn } = await import('node:child_process');
  const handed = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
  return new Promise(resolve => {
    const child = spawn(opener, [file], { env: handed, detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
    child.unref();
  });
}

function contextSandbox(
  host: AppHost,
  opened: Connections,
  stdin: InputStream,
  servers: SandboxServers,
): ContextSandbox {
  const started = () => import('./sandbox-started.ts');
  return {
    admin: opened.admin,
    elsewhere: opened.sandboxElsewhere,
    servers,
    exportTo: async path => (await started()).exportFrom(host, await control(opened), path),
    async importFrom(path) {
      const { importFrom } = await started();
      await using input = await openInput({ host, stdin }, path);
      return await importFrom(host, await control(opened), input);
    },
    subscriptionsIn: async path => (await started()).subscriptionsIn(host, path),
    async deliveries() {
      const deliver = await opened.deliver();
      if (deliver === undefined) return undefined;
      return {
        run: async until => void (await deliver({ kind: 'signal', signal: until })),
        settle: async until => void (await deliver({ kind: 'idle', signal: until })),
      };
    },
    moveAside: async () => (await started()).moveStoreAway(host),
  };
}

async function control({ adminPlace }: Connections): Promise<ControlAddress> {
  const { baseUrl, socketPath, secureContext, key } = await adminPlace();
  return { baseUrl, socketPath, secureContext, token: await key() };
}
