/** What a command's context can do, put together by concern. Costly things are opened once, when first asked for. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AuditLog } from '../audit/log.ts';
import type { CommandTraits, Context, ContextSandbox, StartedBrowser, ToolHost } from '../cli/context.ts';
import type { Globals } from '../cli/parsing/globals.ts';
import type { OpenContext } from '../cli/run.ts';
import type { ReadName } from '../contract/calls.ts';
import type { PlannedRequest, Reader, ReadOptions, Service } from '../contract/service.ts';
import { asCliError, CliError } from '../core/errors.ts';
import { createPrivate, type FileDependencies, preparePrivateFolder } from '../files/private-files.ts';
import type { AfterAnswer } from '../journal/run.ts';
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
import type { Environment, OutputStream } from '../platform/host.ts';
import { programIn } from '../platform/programs.ts';
import { createRecorder } from '../writes/audit-record.ts';
import { confirmWithPerson } from '../writes/guard.ts';
import { createPipeline } from '../writes/pipeline.ts';
import { createWriter } from '../writes/single-write.ts';
import { type Connections, connections, once } from './connections.ts';
import { contextFiles, openInput } from './context-files.ts';
import type { LocalDatabase } from './journal.ts';
import type { AppHost } from './process-host.ts';
import { openTerminal, type RunTerminal } from './terminal.ts';

/** What a run is opened with. */
export interface Opening extends CommandTraits {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  /** Filled with what takes secrets of this run out of a text. */
  readonly redactions: ((text: string) => string)[];
  /** Filled with the keys of this run, which are taken out of all output. */
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** Words after `--`. */
  readonly rest: readonly string[];
}

/** A run that can speak to a person; nothing is opened yet. */
export interface BegunRun extends Opening {
  readonly terminal: RunTerminal;
  readonly notice: (text: string) => void;
  /** A notice that begins with `warning:`. */
  readonly warn: (text: string) => void;
  /** Of private files of ours. */
  readonly files: FileDependencies;
}

/** One run, for whatever is put together for it. What is a function is opened once, when it is first asked for. */
export interface Run extends BegunRun {
  readonly opened: Connections;
  readonly reader: () => Promise<Reader>;
  readonly limits: RunLimits;
  /** The journal of this machine, which holds its audit log too. */
  readonly local: () => Promise<LocalDatabase>;
  readonly audit: () => Promise<AuditLog>;
}

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening): OpenContext {
  const { host, version, globals } = opening;
  const terminal = openTerminal(opening);
  const { prompts, progress, notice, warn, canAsk, life } = terminal;
  const files = { platform: host.platform, random: host.noise, warn };
  const begun: BegunRun = { ...opening, terminal, notice, warn, files };
  const opened = connections(begun);
  const run: Run = {
    ...begun,
    opened,
    reader: once(async () => readerOf(await opened.service(), opened.noteShown)),
    limits: runLimits(host, opened),
    local: once(async () => (await import('./journal.ts')).localDatabase(begun, opened)),
    audit: once(async () => {
      const { auditLog } = await import('../audit/log.ts');
      const { path, open, existing } = await run.local();
      const { clock, pid, user, machine } = host;
      return auditLog({ path, database: open, existing, clock, pid, user, host: machine });
    }),
  };
  const { reader } = run;
  const changes = changesOf(run);
  const { journal } = changes;
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
      limits: run.limits.shown,
      overrides: opened.overrides,
      reader,
      read: async (operation, input, options) => (await reader()).read(operation, input, options),
      async write(operation, input, ...more) {
        const made = await changes.write(operation, input, ...more);
        opened.noteShown(operation, input as Values, made.result);
        return made;
      },
      mirror: once(async () => {
        const { mirrorFor } = await import('./mirror.ts');
        return mirrorFor(run, journal.open);
      }),
    },
    journal,
    sandbox: contextSandbox(run),
    ui: {
      ...{ prompts, progress, notice, canAsk, maskInLog: terminal.maskInLog },
      ...{ ask: changes.ask, confirmCount: changes.confirmCount },
      yes: globals.yes,
      forPeople: host.streams.stdout.isTerminal && !globals.machine && !globals.quiet,
    },
    files: contextFiles(run),
    reveal: async (cardId, options) => (await changes.gate()).reveal(cardId, options),
    runWithCard: async (cardId, options) => (await changes.gate()).runWithCard(cardId, options),
    checkRunWithCard: async options => (await changes.gate()).checkRunWithCard(options),
    openBrowser: address => openBrowser(host, address),
    takeSignals: onSignal => host.handOver(onSignal),
    async processes() {
      const { isNamedGone, processName } = await import('../files/lock.ts');
      const own = processName(host.pid);
      return { own, isGone: name => isNamedGone(name, own, pid => host.isRunning(pid)) };
    },
    toolHost: () => toolHost(run),
    runProgram: (program, variables) => runForAccount(run, program, { variables, handsKeys: true }),
    profiles: once(async () => {
      const { profilesFor } = await import('./profiles.ts');
      return profilesFor(run);
    }),
    async diagnose() {
      const { doctorFor } = await import('./doctor.ts');
      return doctorFor(run, journal.open);
    },
  };
  return {
    context,
    async close(answer) {
      life.end();
      // What is left undone here is looked at by the next command; the answer stands.
      for (const work of changes.afterAnswer)
        await work(answer).catch((thrown: unknown) => warn((thrown as Error).message));
      await progress.written();
      await opened.close();
    },
  };
}

/** What changes something: journal, audit log, limits, and the pipeline that holds their order. */
function changesOf(run: Run) {
  const { host, globals, terminal, opened, reader, limits, audit, notice, warn } = run;
  const { prompts, canAsk } = terminal;
  const { yes, dryRun, live } = globals;
  const { signal, clock, random } = host;
  const planned: PlannedRequest[] = [];
  const ops: string[] = [];
  const afterAnswer: AfterAnswer[] = [];
  const place = once(async () => (await import('./journal.ts')).placeFor(run));
  const approvals = once(async () => {
    const { approvalsFor } = await import('./approvals.ts');
    return approvalsFor(run, await place());
  });
  const journal = {
    open: once(async () => {
      const [{ journalFor }, { rulesFor }] = await Promise.all([import('./journal.ts'), import('./approvals.ts')]);
      const found = await place();
      return journalFor(run, found, {
        rules: rulesFor(run, found),
        afterAnswer: work => void afterAnswer.push(work),
      });
    }),
    approvals,
    admin: once(async () => {
      const { journalAdmin } = await import('./journal-admin.ts');
      return journalAdmin(run, place, async () => (await approvals()).approvers());
    }),
    audit,
    planned,
    ops,
  };
  const recorder = createRecorder({ audit, identity: opened.identity, warn });
  const asker = { identity: opened.identity, prompts, canAsk, yes, dryRun, live };
  const pipeline = createPipeline({
    ...asker,
    recorder,
    readOnly: async () => (await limits.strictest()).read_only?.source,
  });
  const { write, confirmCount } = createWriter({
    ...{ ...asker, signal, clock, random, notice, pipeline, reader, planned },
    service: opened.service,
    journal: journal.open,
    onOp: op => void ops.push(op),
  });
  return {
    journal: { ...journal, pipeline, recorder },
    write,
    confirmCount,
    ask: confirmWithPerson.bind(undefined, asker),
    /** What may show card details. */
    gate: once(async () => {
      const { cardReveal } = await import('./reveal.ts');
      return cardReveal(run, recorder);
    }),
    /** Work that the answer does not wait for. */
    afterAnswer: afterAnswer as readonly AfterAnswer[],
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
interface ShownLimit {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

type RunLimits = ReturnType<typeof runLimits>;

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

function toolHost(run: Run): ToolHost {
  return {
    input: run.host.promptInput as AsyncIterable<string | Uint8Array>,
    write: text => run.host.streams.stdout.write(text),
    // Whoever configured the server has agreed to its bounds; approvals are asked of a person all the same.
    run: (words, { stdin = '' } = {}) =>
      runLine(run, ['--json', '--no-input', '--yes', ...chosenOptions(run.globals), ...words], { stdin }),
  };
}

interface LineAround {
  readonly stdin: string;
  /** In place of ours. */
  readonly env?: Environment;
  /** Told of standard output as it comes. */
  readonly onOut?: (text: string) => void;
}

/** Runs a command line of this program in this process, with nobody to ask. Resolves to its exit code and to what it wrote; never rejects. */
export async function runLine(
  { host, version }: Run,
  argv: readonly string[],
  { stdin, env = host.env, onOut }: LineAround,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [{ compose, replaced }, { run }] = await Promise.all([import('./compose.ts'), import('../cli/run.ts')]);
  const written = { out: '', err: '' };
  const stream = (to: keyof typeof written): OutputStream => ({
    isTerminal: false,
    columns: undefined,
    closed: false,
    async write(given) {
      const text = typeof given === 'string' ? given : Buffer.from(given).toString();
      written[to] += text;
      if (to === 'out') onOut?.(text);
    },
  });
  const given = Buffer.from(stdin);
  const streams = {
    stdin: { isTerminal: false, readAll: async () => stdin, readBytes: async () => given },
    stdout: stream('out'),
    stderr: stream('err'),
  };
  const quiet = replaced(replaced(replaced(host, 'streams', streams), 'argv', argv), 'hidesPrograms', true);
  return { code: await run(compose(replaced(quiet, 'env', env), version)), ...written };
}

/**
 * Runs a program that acts for the account of this run or for none; with `handsKeys` it gets the key of the environment too.
 * Resolves to its exit code.
 */
export async function runForAccount(
  { host, globals, opened, terminal }: Run,
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
  return runChild(program, { env, cwd, platform, handOver, sharesTerminal: terminal.stdin.isTerminal, isHidden });
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

function contextSandbox(run: Run): ContextSandbox {
  const { host, opened } = run;
  const started = () => import('./sandbox-started.ts');
  return {
    admin: opened.admin,
    elsewhere: opened.sandboxElsewhere,
    servers: async () => (await import('./sandbox-server.ts')).sandboxServersFor(run),
    exportTo: async path => (await started()).exportFrom(run, path),
    async importFrom(path) {
      const { importFrom } = await started();
      await using input = await openInput(run, path);
      return await importFrom(run, input);
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
