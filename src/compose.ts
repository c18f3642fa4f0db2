/**
 * Puts the rooms together: who we are, which connection that means, what a command's context can do. Costly things
 * are opened once, when they are first asked for. Takes everything from the host, so tests run it whole.
 */
import type { Context } from './cli/context.ts';
import type { Globals } from './cli/globals.ts';
import type { Machine, OpenContext } from './cli/run.ts';
import { createWriter } from './cli/write.ts';
import { REGISTRY } from './commands/registry.ts';
import { connections } from './connections.ts';
import type { ReadName } from './contract/calls.ts';
import type { PlannedRequest, Reader, Service } from './contract/service.ts';
import type { Host } from './host.ts';
import { profilesFor } from './profiles-for.ts';
import type { EmbeddedSandbox } from './sandbox/embedded.ts';
import { createPrompts } from './terminal/prompts.ts';
import type { KeySource } from './terminal/reveal-screen.ts';

/** What of the real process the rooms need beyond `Host`. */
export interface Surroundings extends Host {
  /** The real standard input and standard error, for the prompt library. */
  readonly promptInput: NodeJS.ReadableStream;
  readonly promptOutput: NodeJS.WritableStream;
  /** Text of a file; throws `usage` naming it. */
  readFile(path: string): Promise<string>;
  /** Opens the embedded sandbox of this user. */
  openSandbox(): Promise<EmbeddedSandbox>;
  /** True while a process of this number runs. */
  isRunning(pid: number): boolean;
  /** Single key presses, until closed. */
  openKeys(): KeySource & { close(): void };
  /** Writes to the terminal at once; usable while the process dies. */
  writeTerminal(text: string): void;
  /** Has `restore` called when a signal or a crash ends the process; returns how to take it back. */
  onCrash(restore: () => void): () => void;
}

/** The program, ready to run once. */
export function compose(host: Surroundings, version: string): Machine & { readonly host: Surroundings } {
  const redactions: ((text: string) => string)[] = [];
  return {
    host,
    version,
    registry: REGISTRY,
    redact: text => redactions.reduce((clean, redact) => redact(clean), text),
    openContext: globals => openContext({ host, version, globals, redactions }),
  };
}

interface Opening {
  readonly host: Surroundings;
  readonly version: string;
  readonly globals: Globals;
  readonly redactions: ((text: string) => string)[];
}

/** Runs `make` at the first call and keeps its promise. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function openContext(opening: Opening): OpenContext {
  const { host, globals } = opening;
  const { stdin, stdout, stderr } = host.streams;
  const canAsk = !globals.noInput && stdin.isTerminal && stderr.isTerminal;
  const notice = (text: string) => void noticed.push(say(text));
  const noticed: Promise<void>[] = [];
  async function say(text: string): Promise<void> {
    if (globals.quiet) return;
    const { printable } = await import('./terminal/printable.ts');
    await stderr.write(`${printable(text)}\n`);
  }
  const prompts = createPrompts({
    streams: host.streams,
    allowed: !globals.noInput,
    input: host.promptInput,
    output: host.promptOutput,
    signal: host.signal,
  });
  const opened = connections({ ...opening, notice });
  const reader = once(async () => readerOf(await opened.service()));
  const planned: PlannedRequest[] = [];
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
  const writer = createWriter({
    ...settings,
    planned,
    readOnly: async () => (await opened.settings()).read_only === true,
  });

  const context: Context = {
    clock: host.clock,
    random: host.random,
    env: host.env,
    stdin,
    prompts,
    dryRun: globals.dryRun,
    yes: globals.yes,
    forPeople: stdout.isTerminal && !globals.machine && !globals.quiet,
    canAsk,
    signal: host.signal,
    profileName: globals.profile,
    planned,
    notice,
    identity: opened.identity,
    overrides: opened.overrides,
    sandbox: opened.admin,
    reader,
    read: async (operation, input) => (await reader()).read(operation, input),
    write: writer.write,
    confirmCount: writer.confirmCount,
    profiles: once(() => profilesFor(host, notice)),
    readFile: path => host.readFile(path),
    async reveal(cardId, options) {
      const { revealCard } = await import('./cli/reveal.ts');
      const screen = { showOnScreen: (lines: readonly string[], seconds: number) => onScreen(host, lines, seconds) };
      const { createPrivate } = await import('./files/private-files.ts');
      const allowUnattended = async () => (await opened.settings()).allow_unattended_reveal === true;
      return revealCard(
        { ...settings, ...screen, createPrivate, allowUnattended, notice, stdoutIsTerminal: stdout.isTerminal },
        cardId,
        options,
      );
    },
    async moveSandboxAside() {
      const { resetHard } = await import('./sandbox/reset-hard.ts');
      return resetHard(host.folders, host.clock);
    },
  };
  return {
    context,
    async close() {
      await Promise.all(noticed);
      await opened.close();
    },
  };
}

/** Reading operations alone, the bare results. */
function readerOf(service: Service): Reader {
  return {
    read: async <N extends ReadName>(operation: N, input: Parameters<Reader['read']>[1]) =>
      (await service.send(operation, input as never)).result as never,
    pages: (operation, input) => service.pages(operation, input),
  };
}

async function onScreen(
  host: Surroundings,
  lines: readonly string[],
  seconds: number,
): Promise<{ readonly shownMs: number }> {
  const { showOnAlternateScreen } = await import('./terminal/reveal-screen.ts');
  const keys = host.openKeys();
  try {
    const terminal = { write: (text: string) => host.writeTerminal(text) };
    const onCrash = (restore: () => void) => host.onCrash(restore);
    return await showOnAlternateScreen({
      lines,
      seconds,
      terminal,
      keys,
      onCrash,
      clock: host.clock,
      signal: host.signal,
    });
  } finally {
    keys.close();
  }
}
