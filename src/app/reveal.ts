/** What the gate in front of card numbers needs of this machine. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { DestinationSettings, GateSettings } from '../cli/reveal.ts';
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
    showOnScreen: (lines, seconds) => onScreen(host, lines, seconds),
    checkNew: path => checkNewFile(host, path),
    createPrivate: (path, content) => createFile(host, path, content),
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

async function onScreen(host: AppHost, lines: readonly string[], seconds: number) {
  const { showOnAlternateScreen } = await import('../terminal/reveal-screen.ts');
  const keys = host.openKeys();
  try {
    const terminal = { write: (text: string) => host.writeTerminal(text) };
    const onCrash = (restore: () => void) => host.onCrash(restore);
    const { clock, signal } = host;
    return await showOnAlternateScreen({ lines, seconds, terminal, keys, onCrash, clock, signal });
  } finally {
    keys.close();
  }
}
