/** What the gate in front of card numbers needs of this machine. */
import type { Globals } from '../cli/parsing/globals.ts';
import { CLIPBOARD_SECONDS, type DestinationSettings, type GateSettings } from '../cli/reveal.ts';
import type { Clipboard } from '../terminal/clipboard.ts';
import type { Reveal } from '../terminal/reveal-screen.ts';
import type { Connections } from './connections.ts';
import type { RunLimits } from './context.ts';
import { checkNewFile, createFile } from './context-files.ts';
import type { AppHost } from './process-host.ts';

interface RevealFacts
  extends Pick<
    GateSettings,
    'service' | 'reader' | 'prompts' | 'canAsk' | 'dryRun' | 'yes' | 'live' | 'recorder' | 'notice'
  > {
  readonly host: AppHost;
  readonly maskInLog: DestinationSettings['maskInLog'];
  readonly globals: Globals;
  readonly opened: Connections;
  readonly warn: (text: string) => void;
  readonly limits: RunLimits;
}

export function revealFor({ host, globals, opened, warn, limits, ...facts }: RevealFacts): DestinationSettings {
  const { stdin, stdout, stderr } = host.streams;
  return {
    ...facts,
    identity: opened.identity,
    stdoutIsTerminal: stdout.isTerminal,
    runtime: { execArgv: host.execArgv, env: host.env, inspected: host.inspected() },
    allowUnattended: async () => (await opened.settings()).allow_unattended_reveal === true,
    async revealRule() {
      const { reveal: rule, path } = await limits.managed();
      return rule && { rule, path };
    },
    async budget() {
      const { revealBudget } = await import('../audit/reveal-budget.ts');
      return revealBudget((await opened.identity()).profile, {
        stateFolder: host.folders.state,
        clock: host.clock,
        random: host.noise,
        pid: host.pid,
        platform: host.platform,
        warn,
        isRunning: other => host.isRunning(other),
      });
    },
    async countDown(ms) {
      const { countDown } = await import('../terminal/reveal-screen.ts');
      const redraw = !globals.accessible && host.env['TERM'] !== 'dumb';
      const says = (seconds: number) =>
        `The limit of this minute is reached; continuing in ${seconds} s (Ctrl-C cancels)`;
      await countDown(ms, says, { stderr, clock: host.clock, signal: host.signal, redraw });
    },
    showOnScreen: (lines, { seconds, actions }) => onScreen(host, { lines, seconds, actions }),
    checkNew: path => checkNewFile(host, path),
    createPrivate: (path, content) => createFile(host, path, content),
    async clipboard() {
      const { findClipboard } = await import('../terminal/clipboard.ts');
      return findClipboard({ platform: host.platform, env: host.env, folders: host.programFolders });
    },
    clearLater: (clipboard, text) => clearLater(host, clipboard, text),
    async checkProgram(name) {
      const { findProgram } = await import('../cli/child.ts');
      await findProgram(name, host);
    },
    async runChild(program, variables) {
      const { runForAccount } = await import('./context.ts');
      return runForAccount({ host, globals, opened, stdin }, program, { variables, handsKeys: false });
    },
  };
}

/** A signal ends the waiting, not the clearing. */
async function clearLater({ clock, signal }: AppHost, clipboard: Clipboard, text: string): Promise<boolean> {
  if (!signal.aborted) {
    await clock.sleep(CLIPBOARD_SECONDS * 1000, signal).catch(thrown => {
      if (!signal.aborted) throw thrown;
    });
  }
  const cleared = await clipboard.clearIf(text);
  signal.throwIfAborted();
  return cleared;
}

async function onScreen(host: AppHost, showing: Pick<Reveal, 'lines' | 'seconds' | 'actions'>) {
  const { showOnAlternateScreen } = await import('../terminal/reveal-screen.ts');
  const keys = host.openKeys();
  try {
    const terminal = { write: (text: string) => host.writeTerminal(text) };
    const onCrash = (restore: () => void) => host.onCrash(restore);
    const { clock, signal } = host;
    return await showOnAlternateScreen({ ...showing, terminal, keys, onCrash, clock, signal });
  } finally {
    keys.close();
  }
}
