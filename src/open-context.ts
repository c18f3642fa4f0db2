/** What a command's context can do. Costly things are opened once, when they are first asked for. */
import { resolve } from 'node:path';
import type { Context } from './cli/context.ts';
import type { Globals } from './cli/globals.ts';
import type { OpenContext } from './cli/run.ts';
import { createWriter } from './cli/write.ts';
import type { Surroundings } from './compose.ts';
import { connections, once } from './connections.ts';
import type { ReadName } from './contract/calls.ts';
import type { PlannedRequest, Reader, Service } from './contract/service.ts';
import { printable } from './terminal/printable.ts';
import { createPrompts } from './terminal/prompts.ts';

export interface Opening {
  readonly host: Surroundings;
  readonly version: string;
  readonly globals: Globals;
  readonly redactions: ((text: string) => string)[];
}

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening): OpenContext {
  const { host, globals } = opening;
  const { stdin, stdout, stderr } = host.streams;
  const canAsk = !globals.noInput && stdin.isTerminal && stderr.isTerminal;
  const notice = (text: string) => void noticed.push(say(text));
  const noticed: Promise<void>[] = [];
  async function say(text: string): Promise<void> {
    if (globals.quiet) return;
    await stderr.write(`${printable(text)}\n`);
  }
  const prompts = createPrompts({
    streams: host.streams,
    allowed: !globals.noInput,
    // Opened when something is asked: Node's streams take a while.
    get input() {
      return host.promptInput;
    },
    get output() {
      return host.promptOutput;
    },
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
  const journal = once(async () => {
    const { journalFor } = await import('./journal-for.ts');
    return journalFor({ host, globals, opened, notice });
  });
  const writer = createWriter({
    ...settings,
    journal,
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
    guardRun: writer.guardRun,
    journal,
    profiles: once(async () => {
      const { profilesFor } = await import('./profiles-for.ts');
      return profilesFor(host, notice);
    }),
    readFile: path => host.readFile(path),
    async reveal(cardId, options) {
      const { revealCard } = await import('./cli/reveal.ts');
      const screen = { showOnScreen: (lines: readonly string[], seconds: number) => onScreen(host, lines, seconds) };
      const { createPrivate } = await import('./files/private-files.ts');
      const inFolder = (path: string, content: string) => createPrivate(resolve(host.cwd, path), content);
      const allowUnattended = async () => (await opened.settings()).allow_unattended_reveal === true;
      return revealCard(
        {
          ...settings,
          ...screen,
          createPrivate: inFolder,
          allowUnattended,
          notice,
          stdoutIsTerminal: stdout.isTerminal,
        },
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
