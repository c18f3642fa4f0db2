/**
 * The clipboard, through a program of the system named by its absolute path. What is copied goes to its standard
 * input, never into an argument and never to the terminal (OSC 52 would pass through recorders and remote sessions).
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import type { Host } from '../platform/host.ts';
import { programIn } from '../platform/programs.ts';

interface ClipboardDependencies extends Pick<Host, 'platform' | 'env'> {
  /** Where programs are looked for, absolute; the working folder and PATH are not among them. */
  readonly folders: readonly string[];
  /** How long a program may take, milliseconds; 5000 when left out. */
  readonly patienceMs?: number;
}

/** A display that does not answer must not hold the card for ever. */
const PATIENCE_MS = 5_000;

type Words = readonly [program: string, ...args: string[]];

interface Tool {
  readonly copy: Words;
  readonly paste: Words;
  /** Without it the clipboard is emptied by copying nothing. */
  readonly clear?: Words;
}

const POWERSHELL = String.raw`WindowsPowerShell\v1.0\powershell.exe`;

function toolsFor({ platform, env }: ClipboardDependencies): readonly Tool[] {
  if (platform === 'darwin') return [{ copy: ['pbcopy'], paste: ['pbpaste'] }];
  if (platform === 'win32') {
    return [{ copy: ['clip.exe'], paste: [POWERSHELL, '-NoProfile', '-Command', 'Get-Clipboard -Raw'] }];
  }
  const wayland: Tool = { copy: ['wl-copy'], paste: ['wl-paste', '--no-newline'], clear: ['wl-copy', '--clear'] };
  const x11: readonly Tool[] = [
    { copy: ['xclip', '-selection', 'clipboard'], paste: ['xclip', '-selection', 'clipboard', '-o'] },
    { copy: ['xsel', '-ib'], paste: ['xsel', '-ob'], clear: ['xsel', '-cb'] },
  ];
  return [...(env['WAYLAND_DISPLAY'] ? [wayland] : []), ...(env['DISPLAY'] ? x11 : [])];
}

/**
 * The first clipboard that can be both written and read; undefined when there is none. Its methods throw `internal` without the
 * text when the program fails.
 */
export async function findClipboard(around: ClipboardDependencies) {
  const { patienceMs = PATIENCE_MS } = around;
  function runTool(program: string, [, ...args]: Words, text?: string): Promise<string> {
    // The program needs its display, not our keys.
    const env = Object.fromEntries(Object.entries(around.env).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
    return new Promise((resolve, reject) => {
      // A clipboard owner stays in the background: its output must not be a pipe that we wait for.
      const child = spawn(program, args, {
        env,
        cwd: '/',
        timeout: patienceMs,
        killSignal: 'SIGKILL',
        stdio: ['pipe', text === undefined ? 'pipe' : 'ignore', 'ignore'],
      });
      const chunks: Buffer[] = [];
      child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
      const failed = (why: string) =>
        reject(new CliError('internal', { message: `the clipboard program ${program} ${why}` }));
      child.on('error', (error: NodeJS.ErrnoException) => failed(`cannot be started (${error.code ?? 'unknown'})`));
      child.on(text === undefined ? 'close' : 'exit', code => {
        if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
        else failed(code === null ? `did not end within ${patienceMs} ms` : `ended with ${code}`);
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(text ?? '');
    });
  }

  const system = around.env['SystemRoot'];
  const folders = around.platform === 'win32' && system ? [join(system, 'System32')] : around.folders;
  for (const { copy, paste, clear } of toolsFor(around)) {
    const [copyAt, pasteAt] = await Promise.all([programIn(folders, copy[0]), programIn(folders, paste[0])]);
    if (copyAt === undefined || pasteAt === undefined) continue;
    return {
      async write(text: string): Promise<void> {
        await runTool(copyAt, copy, text);
      },
      /** Empties the clipboard if it still holds the text; false when it holds something else. */
      async clearIf(text: string): Promise<boolean> {
        const now = await runTool(pasteAt, paste).catch(() => '');
        if (now.replace(/\r?\n$/, '') !== text) return false;
        await (clear === undefined ? runTool(copyAt, copy, '') : runTool(copyAt, clear));
        return true;
      },
    };
  }
  return undefined;
}
