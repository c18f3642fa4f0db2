/**
 * The real surroundings: the process, the clock, chance, this user's folders. What is costly to open is opened when it
 * is first used.
 */
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { WHOLE_INPUT_BYTES } from '../core/input-limits.ts';
import { utf8Text } from '../core/utf8-text.ts';
import { managedFilePath } from '../limits/managed-file.ts';
import type { Folders } from '../platform/host.ts';
import { type SignalHolders, signalHolders } from '../platform/signals.ts';
import { setFlag } from '../platform/v8-flags.ts';
import { openTerminalKeys } from '../terminal/key-source.ts';
import type { AppHost } from './app-host.ts';
import { ownFolders } from './own-folders.ts';
import { aTerminalIsGone, inputFrom, outputTo, writeTerminal } from './process-streams.ts';

/** Ctrl-Z. */
const SUSPEND = '\x1a';

export interface ProcessHost extends AppHost, SignalHolders {
  /** A standard stream was a terminal, and that terminal was closed. */
  terminalIsGone(): boolean;
  /** Standard input would otherwise keep the process waiting for its end. */
  letGo(): void;
}

/** @param signal ends what is running; its reason becomes the error of the run. */
export function processHost(version: string, signal: AbortSignal): ProcessHost {
  let opened = false;
  let folders: Folders | undefined;
  const input = () => {
    opened = true;
    return process.stdin;
  };
  const host: ProcessHost = {
    argv: process.argv.slice(2),
    env: process.env,
    streams: { stdin: inputFrom(input, signal), stdout: outputTo(1), stderr: outputTo(2) },
    clock: {
      now: () => Date.now(),
      // Node's `performance` brings ten modules of its own.
      monotonic: () => Number(process.hrtime.bigint()) / 1e6,
      sleep,
    },
    random: {
      bytes: count => process.getBuiltinModule('node:crypto').randomFillSync(new Uint8Array(count)),
      fraction: () => Math.random(),
    },
    // When they are first asked for: help needs none.
    get folders() {
      folders ??= ownFolders({ env: process.env, platform: process.platform, home: homedir, temporary: tmpdir() });
      return folders;
    },
    platform: process.platform,
    pid: process.pid,
    cwd: process.cwd(),
    signal,
    get promptInput() {
      return input();
    },
    get promptOutput() {
      return process.stderr;
    },
    readFile: path => readText(host, path),
    async openSandbox() {
      const { openEmbedded } = await import('../sandbox/serving/embedded.ts');
      setLater(5_000, collectOften);
      return openEmbedded(host, { version, dialect: host.env['CARDWRIGHT_SANDBOX_DIALECT'] });
    },
    isRunning,
    scrypt: (...words) => process.getBuiltinModule('node:crypto').scryptSync(...words),
    get noise() {
      return host.random;
    },
    get user() {
      return userName();
    },
    get machine() {
      return hostname();
    },
    execArgv: process.execArgv,
    inspected: () => process.getBuiltinModule('node:inspector').url() !== undefined,
    get node() {
      return process.getBuiltinModule('node:sea').isSea() ? undefined : process.execPath;
    },
    get program(): AppHost['program'] {
      const { execPath, execArgv, argv } = process;
      return host.node === undefined ? [execPath] : [execPath, ...execArgv, ...argv.slice(1, 2)];
    },
    keepSmall: () => setLater(1_000, () => void staySmall()),
    keepSmallAtOnce: staySmall,
    nodeVersion: process.versions.node,
    codeCache: codeCacheSays(),
    limitsFile: { path: managedFilePath(process.platform), administrator: 0, platform: process.platform },
    programFolders: ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    ...signalHolders(),
    async keychain() {
      const [{ openKeychain }, { access }] = await Promise.all([
        import('../profile/keychain.ts'),
        import('node:fs/promises'),
      ]);
      const exists = (path: string) =>
        access(path).then(
          () => true,
          () => false,
        );
      return openKeychain({ clock: host.clock, env: host.env, platform: host.platform, node: host.node, exists });
    },
    openKeys() {
      const keys = openTerminalKeys(input());
      // Stopped, it would leave the card on the screen: any wish to stop it is a key like others.
      const hide = () => keys.press(SUSPEND);
      process.on('SIGTSTP', hide);
      return {
        next: keys.next,
        close() {
          process.off('SIGTSTP', hide);
          keys.close();
        },
      };
    },
    writeTerminal,
    terminalIsGone: aTerminalIsGone,
    letGo() {
      if (opened) process.stdin.unref?.();
    },
  };
  return host;
}

/** Put in by the build; see src/loader.ts. */
declare const CODE_CACHE: { readonly says: string; readonly used: number } | undefined;

function codeCacheSays(): string | undefined {
  if (typeof CODE_CACHE === 'undefined') return undefined;
  const { says, used } = CODE_CACHE;
  return used === 0 ? says : `${says}; in use`;
}

/** V8 lets garbage grow to several times of what is alive; rows of a restore by the million are all garbage. */
function collectOften(): void {
  setFlag(process.getBuiltinModule('node:v8'), '--heap-growing-percent=20', '--heap-growing-percent=0');
}

async function staySmall(): Promise<void> {
  const { keepGrown } = await import('../platform/v8-heap.ts');
  keepGrown(process.getBuiltinModule('node:v8'), {
    eventLoopUtilization: performance.eventLoopUtilization,
    every: (ms, look) => void setInterval(look, ms).unref(),
  });
  collectOften();
}

/**
 * Sets flags of V8 for what goes on for long. Once a flag is another, V8 refuses the compiled code that Node keeps of its
 * modules, and we of our files: a fifth of a short command, which is over by then.
 */
function setLater(afterMs: number, set: () => void): void {
  setTimeout(set, afterMs).unref();
}

/** Node's own makes an exception with a stack for every sleep that is cut short, and every request has one. */
function sleep(ms: number, until?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      clearTimeout(timer);
      reject(until?.reason);
    };
    const timer = setTimeout(() => {
      until?.removeEventListener('abort', wake);
      resolve();
    }, ms);
    if (until?.aborted) wake();
    else until?.addEventListener('abort', wake, { once: true });
  });
}

/** Contracts, scenarios, bodies and certificates are much smaller; a pipe may have no end. */
async function readText({ clock, signal, streams }: AppHost, path: string): Promise<string> {
  const { readWhole } = await import('../files/input-file.ts');
  const notice = (text: string) => void streams.stderr.write(`${text}\n`);
  return utf8Text(await readWhole(path, path, WHOLE_INPUT_BYTES, { clock, signal, notice }), path);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A container may run us under an id that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
