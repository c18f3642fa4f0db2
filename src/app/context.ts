/** What a command's context can do. Costly things are opened once, when they are first asked for. */

import { resolve } from 'node:path';
import type { AuditDependencies } from '../audit/log.ts';
import { maskInLog } from '../cli/ci-log.ts';
import type { Context } from '../cli/context.ts';
import type { Globals } from '../cli/parsing/globals.ts';
import { withRepeated } from '../cli/repeated.ts';
import type { OpenContext } from '../cli/run.ts';
import type { ReadName } from '../contract/calls.ts';
import type { PlannedRequest, Reader, ReadOptions, Service } from '../contract/service.ts';
import { asCliError, CliError } from '../core/errors.ts';
import type { HoldSpending } from '../core/spending.ts';
import type { JournaledSince } from '../profile/spend-limits.ts';
import { createProgress, type ProgressMode } from '../terminal/progress.ts';
import { createPrompts } from '../terminal/prompts.ts';
import { screenWidth } from '../terminal/screen.ts';
import { createSignOfLife } from '../terminal/sign-of-life.ts';
import { typedInput } from '../terminal/typed-input.ts';
import { createRecorder } from '../writes/audit-record.ts';
import { createPipeline } from '../writes/pipeline.ts';
import { confirmWithPerson } from '../writes/question.ts';
import { createWriter } from '../writes/single-write.ts';
import type { AppHost } from './app-host.ts';
import { type Connections, connections, once } from './connections.ts';
import { openInput, openRows, readBytes } from './input.ts';
import { sandboxServersFor } from './sandbox-server.ts';

export interface Opening {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  readonly redactions: ((text: string) => string)[];
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** Words after `--`. */
  readonly rest: readonly string[];
  /** The command could be answered by the mirror, and was not asked to be. */
  readonly couldBeOffline?: boolean | undefined;
}

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening): OpenContext {
  const { host, globals } = opening;
  const { stdout, stderr } = host.streams;
  const canAsk = !globals.noInput && host.streams.stdin.isTerminal && stderr.isTerminal;
  const rowsOnScreen = stdout.isTerminal && !['table', 'wide', 'json', 'yaml'].includes(globals.format);
  const columns = () => screenWidth(host.env, stderr);
  const mode = progressMode(opening);
  const { clock, onCrash, writeTerminal } = host;
  const progress = createProgress({ mode, stderr, clock, columns, onCrash, writeTerminal, rowsOnScreen });
  if (stdout.isTerminal) opening.beforeOutput.add(progress.clear);
  // A program that reads the answer may draw on the same terminal.
  const watched = stderr.isTerminal && (stdout.isTerminal || !globals.machine);
  const life = createSignOfLife({ mode, watched, progress, clock });
  const notice = (text: string) => {
    if (!globals.quiet) progress.say(withRepeated(text, globals.repeated));
  };
  const stdin = typedInput(host.streams.stdin, notice);
  const inputs = { host, stdin, notice };
  const warn = (text: string) => notice(`warning: ${text}`);
  const prompts = createPrompts({
    streams: host.streams,
    allowed: !globals.noInput,
    accessible: globals.accessible || host.env['TERM'] === 'dumb',
    // Opened when something is asked: Node's streams take a while.
    get input() {
      return host.promptInput;
    },
    get output() {
      return host.promptOutput;
    },
    signal: host.signal,
  });
  // Asked for by name, so that --quiet does not take it away.
  const trace = (line: string) => progress.line(line);
  const tellOfCopy = once(async () => {
    const { isMirrored } = await import('../mirror/file.ts');
    const { profile } = await opened.identity();
    if (isMirrored(host.folders.data, profile))
      notice('The mirror of this account answers at once: the same command with --offline');
  });
  const onThrottled = opening.couldBeOffline && watched ? () => void tellOfCopy().catch(() => undefined) : undefined;
  const opened = connections({ ...opening, notice, trace, life, onThrottled });
  const hide = (texts: readonly string[]) => maskInLog(texts, host.env, text => host.writeTerminal(text));
  const reader = once(async () => readerOf(await opened.service()));
  const planned: PlannedRequest[] = [];
  const ops: string[] = [];
  const settings = {
    identity: opened.identity,
    service: opened.service,
    reader,
    prompts,
    canAsk,
    yes: globals.yes,
    dryRun: globals.dryRun,
    live: globals.live,
    signal: host.signal,
  };
  const afterAnswer: (() => Promise<void>)[] = [];
  const begunAt = host.clock.now();
  const journal = once(async () => {
    const { journalFor } = await import('./journal.ts');
    return journalFor({ host, globals, opened, begunAt, notice, afterAnswer: work => void afterAnswer.push(work) });
  });
  const holdSpending: HoldSpending = async (spending, resumed) => {
    const { holdSpending } = await import('../profile/spend-limits.ts');
    const [{ profile }, limits] = await Promise.all([opened.identity(), opened.settings()]);
    const { platform, random, clock, pid } = host;
    const files = { platform, random, warn: (text: string) => notice(`warning: ${text}`) };
    const lock = { pid, clock, random, isRunning: (other: number) => host.isRunning(other) };
    const journaled = async (asked: JournaledSince) => {
      const { spentByProfile } = await import('./journal.ts');
      return spentByProfile(host, { profile, ...asked });
    };
    const { dryRun } = globals;
    const around = { profile, settings: limits, stateFolder: host.folders.state, files, lock, journaled, dryRun };
    return holdSpending(around, spending, resumed);
  };
  const kept: AuditDependencies = {
    stateFolder: host.folders.state,
    clock: host.clock,
    random: host.noise,
    pid: host.pid,
    user: host.user,
    host: host.machine,
    platform: host.platform,
    warn,
    isRunning: other => host.isRunning(other),
  };
  const audit = once(async () => {
    const { auditLog } = await import('../audit/log.ts');
    return auditLog(kept);
  });
  const recorder = createRecorder({ audit, identity: opened.identity, warn });
  const gate = once(async () => {
    const { revealFor } = await import('./reveal.ts');
    return revealFor({ ...settings, host, globals, opened, kept, recorder, notice, maskInLog: hide });
  });
  const servers = sandboxServersFor({ host, version: opening.version, notice, adminAt: opened.adminAt });
  const readOnly = async () => (await opened.settings()).read_only === true;
  const pipeline = createPipeline({ ...settings, recorder, holdSpending, readOnly });
  const writer = createWriter({ ...settings, pipeline, journal, planned, onOp: op => void ops.push(op) });

  const serviceNow = () => opened.serviceNow() ?? host.clock.now();
  const context: Context = {
    clock: host.clock,
    random: host.random,
    env: host.env,
    stdin,
    prompts,
    progress,
    dryRun: globals.dryRun,
    yes: globals.yes,
    forPeople: stdout.isTerminal && !globals.machine && !globals.quiet,
    csvRaw: globals.csvRaw,
    sorted: globals.sort !== undefined,
    canAsk,
    signal: host.signal,
    requestTimeoutMs: globals.timeoutMs,
    profileName: globals.profile,
    planned,
    ops,
    notice,
    serviceNow,
    async askServiceTime() {
      if (opened.serviceNow() === undefined) await context.read('wallet.get', {}).catch(ignoreAnswer);
      return serviceNow();
    },
    maskInLog: hide,
    identity: opened.identity,
    overrides: opened.overrides,
    sandbox: opened.admin,
    exportSandbox: path => exportSandbox(host, opened, path),
    async importSandbox(path) {
      const { importFrom } = await import('./sandbox-transfer.ts');
      await using input = await openInput(inputs, path);
      const { baseUrl, socketPath, key } = await opened.adminPlace();
      return await importFrom(host, { baseUrl, socketPath, token: await key() }, input);
    },
    reader,
    read: async (operation, input, options) => (await reader()).read(operation, input, options),
    write: writer.write,
    confirmCount: writer.confirmCount,
    pipeline,
    ask: question => confirmWithPerson(settings, question),
    journal,
    profiles: once(async () => {
      const { profilesFor } = await import('./profiles.ts');
      return profilesFor(host, notice);
    }),
    completionFiles: once(async () => {
      const { completionFilesFor } = await import('./completion-install.ts');
      return completionFilesFor(host);
    }),
    presets: once(async () => {
      const { openPresets } = await import('../profile/presets.ts');
      return openPresets(host, warn);
    }),
    readFile: path => host.readFile(path),
    openInput: path => openRows(inputs, path),
    readBytes: path => readBytes(inputs, path),
    async reveal(cardId, options) {
      const { revealCard } = await import('../cli/reveal-destinations.ts');
      return revealCard(await gate(), cardId, options);
    },
    async runWithCard(cardId, options) {
      const { runWithCard } = await import('../cli/reveal-destinations.ts');
      return runWithCard(await gate(), cardId, options);
    },
    async checkRunWithCard(options) {
      const { checkRunWithCard } = await import('../cli/reveal-destinations.ts');
      return checkRunWithCard(await gate(), options);
    },
    takeSignals: onSignal => host.handOver(onSignal),
    async runProgram(program, variables) {
      const { runChild } = await import('../cli/child.ts');
      const { env, cwd, platform } = host;
      const handOver = (onSignal: (signal: NodeJS.Signals) => void) => host.handOver(onSignal);
      return runChild(program, { env, cwd, platform, variables, handOver, sharesTerminal: stdin.isTerminal });
    },
    async sandboxDeliveries() {
      const deliver = await opened.deliver();
      if (deliver === undefined) return undefined;
      return {
        run: async until => void (await deliver({ kind: 'signal', signal: until })),
        settle: async until => void (await deliver({ kind: 'idle', signal: until })),
      };
    },
    cleanupLog: once(async () => {
      const { openCleanupLog } = await import('../events/cleanup-log.ts');
      const files = { platform: host.platform, random: host.noise, warn };
      const { pid, folders } = host;
      const isRunning = (other: number) => host.isRunning(other);
      return openCleanupLog({ folder: folders.state, pid, now: () => host.clock.now(), files, isRunning });
    }),
    async readyFile(path) {
      const ready = await import('../files/ready-file.ts');
      const place = resolve(host.cwd, path);
      await ready.clearReadyFile(place);
      const files = { platform: host.platform, random: host.noise, warn };
      return {
        write: address => ready.writeReadyFile(place, address, files),
        remove: address => ready.removeReadyFile(place, address),
      };
    },
    audit,
    recorder,
    rest: opening.rest,
    mirror: once(async () => {
      const { mirrorFor } = await import('./mirror.ts');
      return mirrorFor({ host, opened, reader, journal, progress, life, warn });
    }),
    async diagnose() {
      const { doctorFor } = await import('./doctor.ts');
      return doctorFor({ host, opened, version: opening.version, audit });
    },
    servers,
    createFile: (path, content) => createFile(host, path, content),
    async replaceFile(place, file) {
      const { replaceFile } = await import('./replaced-file.ts');
      return replaceFile(host, place, file);
    },
    async moveSandboxAside() {
      const { moveStoreAway } = await import('./sandbox-transfer.ts');
      return moveStoreAway(host);
    },
  };
  return {
    context,
    async close() {
      life.end();
      // What is left undone here is looked at by the next command; the answer stands.
      for (const work of afterAnswer) await work().catch((thrown: unknown) => warn((thrown as Error).message));
      await progress.written();
      await opened.close();
      await servers.close();
    },
  };
}

/** One redrawn line for a person at a terminal, sentences for a screen reader, a line now and then for a log. */
function progressMode({ host, globals }: Opening): ProgressMode {
  if (globals.quiet) return 'none';
  if (globals.accessible) return 'spoken';
  return host.streams.stderr.isTerminal && host.env['TERM'] !== 'dumb' ? 'redraw' : 'log';
}

async function exportSandbox(host: AppHost, { adminPlace }: Connections, path: string): Promise<number> {
  const { exportFrom } = await import('./sandbox-transfer.ts');
  const { baseUrl, socketPath, key } = await adminPlace();
  return exportFrom(host, { baseUrl, socketPath, token: await key() }, path);
}

async function createFile(host: AppHost, path: string, content: string): Promise<void> {
  const { createPrivate, systemCode } = await import('../files/private-files.ts');
  await createPrivate(resolve(host.cwd, path), content).catch((error: unknown) => {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'the file already exists and is not overwritten' : code;
    throw new CliError('usage', { message: `--out ${JSON.stringify(path)} cannot be made: ${why}`, cause: error });
  });
}

/** Reading operations alone, the bare results. */
function readerOf(service: Service): Reader {
  return {
    read: async <N extends ReadName>(operation: N, input: Parameters<Reader['read']>[1], options?: ReadOptions) =>
      (await service.send(operation, input as never, options)).result as never,
    pages: (operation, input, options) => service.pages(operation, input, options),
  };
}

/** Any answer tells the time. Throws what kept it from coming. */
function ignoreAnswer(thrown: unknown): void {
  const { kind } = asCliError(thrown);
  if (kind !== 'refused' && kind !== 'not_found' && kind !== 'contract_mismatch') throw thrown;
}
