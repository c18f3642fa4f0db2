/** A run as it begins: what it is opened with, and its questions, progress and notices. */

import type { Environment } from '../platform/host.ts';
import { createProgress, createSignOfLife, type ProgressMode } from '../terminal/progress.ts';
import { createPrompts, typedInput } from '../terminal/prompts.ts';
import { screenWidth } from '../terminal/screen.ts';
import type { Globals } from './globals.ts';
import type { AppHost } from './process-host.ts';
import { withRepeated } from './repeated.ts';

/** Enough for a database that starts again. Who waits for longer than that needs the journal for what he does. */
const URGENT_PATIENCE_MS = 5_000;

/** What a run is opened with. */
export interface Opening {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  /** Filled with what takes secrets of this run out of a text. */
  readonly redactions: ((text: string) => string)[];
  /** Filled with the keys of this run, which are taken out of all output. */
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** It only looks, or freezes cards: it does not wait long for a shared journal. */
  readonly isUrgent: boolean;
  /** Words after `--`. */
  readonly rest: readonly string[];
  /** Runs a line of its own over another host in this process. Resolves to its exit code. */
  readonly again: (host: AppHost) => Promise<number>;
}

export type BegunRun = ReturnType<typeof beginRun>;

/** A run that can speak to a person; nothing is opened yet. `files` is for private files of ours. */
export function beginRun(opening: Opening) {
  const terminal = openTerminal(opening);
  const { notice, warn } = terminal;
  const { platform, noise: random } = opening.host;
  return { ...opening, terminal, notice, warn, files: { platform, random, warn } };
}

/** The terminal of one run; nothing is read or asked yet. */
function openTerminal(opening: Opening) {
  const { host, globals } = opening;
  const { stdout, stderr } = host.streams;
  const rowsOnScreen = stdout.isTerminal && !['table', 'wide', 'json'].includes(globals.format);
  const columns = () => screenWidth(host.env, stderr);
  const mode = progressMode(opening);
  const { clock, onCrash, writeTerminal } = host;
  const progress = createProgress({ mode, stderr, clock, columns, onCrash, writeTerminal, rowsOnScreen });
  if (stdout.isTerminal) opening.beforeOutput.add(progress.clear);
  // A program that reads the answer may draw on the same terminal.
  const watched = stderr.isTerminal && (stdout.isTerminal || !globals.machine);
  const notice = (text: string) => {
    if (!globals.quiet) progress.say(withRepeated(text, globals.repeated));
  };
  const life = createSignOfLife({ mode, watched, progress, clock });
  return {
    stdin: typedInput(host.streams.stdin, notice),
    prompts: createPrompts({
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
    }),
    progress,
    canAsk: !globals.noInput && host.streams.stdin.isTerminal && stderr.isTerminal,
    notice,
    /** A notice that begins with `warning:`. */
    warn: (text: string) => notice(`warning: ${text}`),
    /** A line that was asked for by name: `--quiet` does not take it away. */
    trace: (line: string) => progress.line(line),
    maskInLog: (texts: readonly string[]) => maskInLog(texts, host.env, text => host.writeTerminal(text)),
    life,
    /** How long this command waits for a shared journal, and how a person is told. */
    waiting: { onWait: life.awaited, ...(opening.isUrgent && { patienceMs: URGENT_PATIENCE_MS }) },
  };
}

/** One redrawn line for a person at a terminal, a sentence now and then for a screen reader and a log. */
function progressMode({ host, globals }: Opening): ProgressMode {
  if (globals.quiet) return 'none';
  const canRedraw = host.streams.stderr.isTerminal && host.env['TERM'] !== 'dumb';
  return canRedraw && !globals.accessible ? 'redraw' : 'lines';
}

/**
 * `::add-mask::` lines under GitHub Actions, nothing elsewhere. `write` must not pass a redactor: the runner reads the
 * text itself, and takes the line out of the log.
 */
function maskInLog(texts: readonly string[], env: Environment, write: (text: string) => void): void {
  if (env['GITHUB_ACTIONS'] !== 'true' || texts.length === 0) return;
  // A line break in a text would begin a command of its own.
  const escaped = texts.map(each => each.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
  write(escaped.map(each => `::add-mask::${each}\n`).join(''));
}
