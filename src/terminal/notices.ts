/** The small lines on stderr beside an answer: which profile, warnings, what to do next, what is being sent. */
import type { OutputStream } from '../host.ts';
import { printable } from './printable.ts';

export interface Notices {
  /** Profile and mode, before anything else. */
  banner(text: string): Promise<void>;
  /** `warning: …`. */
  warn(text: string): Promise<void>;
  hint(text: string): Promise<void>;
  /** Only with `-v`. */
  verbose(text: string): Promise<void>;
}

/** `quiet` silences everything but `verbose`, which has its own switch. Every line is printable. */
export function createNotices(
  stderr: OutputStream,
  { quiet, verbose }: { readonly quiet: boolean; readonly verbose: boolean },
): Notices {
  const say = async (text: string) => stderr.write(`${printable(text)}\n`);
  const unlessQuiet = async (text: string) => {
    if (!quiet) await say(text);
  };
  return {
    banner: unlessQuiet,
    hint: unlessQuiet,
    warn: text => unlessQuiet(`warning: ${text}`),
    verbose: async text => {
      if (verbose) await say(text);
    },
  };
}
