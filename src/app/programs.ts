/** What a run starts: lines of this program in this process, programs for its account, the browser. */
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { constants as os } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CliError, notSent, undefinedOn } from '../core/errors.ts';
import { replaced } from '../core/objects.ts';
import { createPrivate, preparePrivateFolder } from '../files/private-files.ts';
import type { Environment, OutputStream } from '../platform/host.ts';
import { programIn } from '../platform/programs.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

export type ToolHost = ReturnType<typeof toolHost>;

/** What a server of tools needs of the process it is. */
export function toolHost(run: Run) {
  const { sandbox, timeoutMs, ...globals } = run.globals;
  const names = ['live', 'contract', 'journal', ...(sandbox ? [] : ['profile' as const])] as const;
  // Whoever configured the server has agreed to its bounds; approvals are asked of a person all the same.
  const options = [
    ...['--json', '--no-input', '--yes', ...(sandbox ? ['--sandbox'] : [])],
    ...names.flatMap(name => (globals[name] === undefined ? [] : [`--${name}=${globals[name]}`])),
    ...(timeoutMs === undefined ? [] : [`--timeout=${Math.ceil(timeoutMs / 1000)}s`]),
  ];
  return {
    /** Standard input as it comes. */
    input: run.host.promptInput as AsyncIterable<string | Uint8Array>,
    write: (text: string) => run.host.streams.stdout.write(text),
    /** A command line for the service that this run has chosen; see `runLine`. */
    run: (words: readonly string[], { stdin = '' }: { readonly stdin?: string | undefined } = {}) =>
      runLine(run, [...options, ...words], { stdin }),
  };
}

/**
 * Runs a command line of this program in this process, with nobody to ask; `env` stands in place of ours, and `onOut` is told of
 * standard output as it comes. Resolves to its exit code and to what it wrote; never rejects.
 */
export async function runLine(
  { host, again }: Run,
  argv: readonly string[],
  { stdin, env = host.env, onOut }: { stdin: string; env?: Environment; onOut?: (text: string) => void },
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
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
  const streams = {
    stdin: { isTerminal: false, readBytes: async () => Buffer.from(stdin) },
    stdout: stream('out'),
    stderr: stream('err'),
  };
  const quiet = replaced(replaced(replaced(host, 'streams', streams), 'argv', argv), 'hidesPrograms', true);
  return { code: await again(replaced(quiet, 'env', env)), ...written };
}

/**
 * Runs a program that acts for the account of this run or for none; with `handsKeys` it gets the key of the environment too.
 * Resolves to its exit code.
 */
export async function runForAccount(
  { host, globals, opened }: Run,
  program: readonly string[],
  { variables, handsKeys }: { readonly variables: Readonly<Record<string, string>>; readonly handsKeys: boolean },
): Promise<number> {
  const { programEnvironment } = await import('../profile/resolve.ts');
  const identity = await undefinedOn('not_authenticated', opened.identity());
  const contract = globals.contract === undefined ? undefined : resolve(host.cwd, globals.contract);
  const env = { ...programEnvironment(host.env, { identity, contract, handsKeys }), ...variables };
  return (await runProgram(host, program, { env })).code;
}

/** What opens a file with the program meant for it. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};
const OTHER_OPENERS = ['xdg-open', 'sensible-browser'];

export type StartedBrowser = Awaited<ReturnType<typeof openBrowser>>;

/** Has the browser of this user open an address, by way of a private file; never waits for it, for it may go on for hours. */
export async function openBrowser({ host, files }: Run, address: string) {
  const { platform, noise, folders, programFolders } = host;
  await preparePrivateFolder(folders.runtime, files);
  const file = join(folders.runtime, `inspector-${Buffer.from(noise.bytes(8)).toString('hex')}.html`);
  const names = OPENERS[platform] ?? OTHER_OPENERS;
  const [opener] = (await Promise.all(names.map(name => programIn(programFolders, name)))).filter(Boolean);
  if (opener === undefined) return { started: false, remove: async () => undefined };
  // A page that goes there; nothing in it is a script.
  const target = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const page = [
    '<!doctype html><meta charset="utf-8"><title>cardwright</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${target}">\n`,
  ];
  await createPrivate(file, page.join(''));
  // The browser needs its display, not our keys.
  const env = Object.fromEntries(Object.entries(host.env).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
  const child = spawn(opener, [pathToFileURL(file).href], { env, detached: true, stdio: 'ignore' });
  child.unref();
  const started = await new Promise<boolean>(resolve => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
  });
  return {
    started,
    /** Takes away the file that led to the address. */
    remove: () => rm(file, { force: true }),
  };
}

// One program in our place: our streams, its exit code. What of our environment it gets is the caller's to say.

/** Where a system without PATH looks. */
const USUAL_PATH = '/usr/bin:/bin';

/** How a child ended: its code, or 128 and the number of the signal that ended it. */
export interface ChildEnd {
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/**
 * The program a word names: a path as it is, else the first in an absolute folder of PATH. An empty or relative folder
 * there is the working folder, which may be anybody's (docs/design/security.md, E18). Throws `usage` when there is
 * none.
 */
export async function findProgram(
  name: string | undefined,
  { env, cwd, platform }: Pick<AppHost, 'env' | 'cwd' | 'platform'>,
): Promise<string> {
  if (!name) throw cannotStart('no program was given');
  const windows = platform === 'win32';
  const isPath = name.includes('/') || (windows && name.includes('\\'));
  const folders = isPath ? [''] : (env['PATH'] ?? env['Path'] ?? USUAL_PATH).split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    for (const ending of windows ? ['', '.exe', '.com'] : ['']) {
      const path = await programIn([resolve(cwd, folder)], `${name}${ending}`);
      if (path !== undefined) return path;
    }
  }
  const where = isPath ? 'is no program' : 'is not in any absolute folder of PATH';
  throw cannotStart(`${JSON.stringify(name)} ${where}`);
}

/**
 * Resolves when the program has ended. Throws `usage` when it cannot be started. `env` is the whole environment of it. With
 * `secondKills` a second signal ends it at once, whatever it makes of the first; otherwise each is passed on.
 */
export async function runProgram(
  host: AppHost,
  [name, ...args]: readonly string[],
  { env, secondKills = false }: { readonly env: Environment; readonly secondKills?: boolean },
): Promise<ChildEnd> {
  const path = await findProgram(name, host);
  // No shell: the words are the program's own, whatever is in them.
  const child = spawn(path, args, {
    cwd: host.cwd,
    ...(name !== undefined && { argv0: name }),
    env,
    stdio: host.hidesPrograms ? 'ignore' : 'inherit',
    shell: false,
  });
  // A terminal that we share sends it Ctrl-C by itself.
  const sharesTerminal = host.streams.stdin.isTerminal;
  let signals = 0;
  const takeBack = host.handOver(signal => {
    signals += 1;
    if (secondKills && signals > 1) child.kill('SIGKILL');
    else if (!(signal === 'SIGINT' && sharesTerminal)) child.kill(signal);
  });
  try {
    return await new Promise<ChildEnd>((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(cannotStart(`${JSON.stringify(name)} cannot be started: ${error.code ?? 'unknown'}`));
      });
      child.on('exit', (code, signal) => {
        resolve({ code: code ?? 128 + os.signals[signal ?? 'SIGKILL'], signal: signal ?? undefined });
      });
    });
  } finally {
    takeBack();
  }
}

function cannotStart(message: string): CliError {
  return notSent('usage', message, { notes: ['Name the program after --.'] });
}
