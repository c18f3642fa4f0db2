/** What became of the program of a lease. It is told also where the card could not be terminated after it. */
import { CliError, type ErrorKind } from '../../core/errors.ts';

export interface ProgramEnd {
  /** `the program ended with 3`, `the program was not run: <why>`. */
  readonly words: string;
  /** Its exit code, or that of the signal that came before it. Throws what kept it from running. */
  exit(): number;
}

/** Runs the program unless a signal came before it. Never rejects. */
export async function programEnd(run: () => Promise<number>, stopped: NodeJS.Signals | undefined): Promise<ProgramEnd> {
  if (stopped !== undefined) {
    return {
      words: `the program was not run: ${stopped} came before it`,
      exit: () => (stopped === 'SIGINT' ? 130 : 143),
    };
  }
  try {
    const code = await run();
    return { words: `the program ended with ${code}`, exit: () => code };
  } catch (thrown) {
    const exit = () => {
      throw thrown;
    };
    return { words: `the program was not run: ${thrown instanceof Error ? thrown.message : thrown}`, exit };
  }
}

/** What says by itself that the command is not to be repeated, or that somebody has stopped it. */
const AS_IT_IS: ReadonlySet<ErrorKind> = new Set(['outcome_unknown', 'interrupted', 'terminated', 'internal']);

/**
 * The error of an end that failed, with what became of the program. Whatever kept the card from being terminated, it was made,
 * and may have paid: nothing says that nothing was sent, and no script repeats it for that.
 */
export function withProgramEnd(thrown: unknown, card: string, { words }: ProgramEnd): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  if (AS_IT_IS.has(thrown.kind)) return thrown.with({ message: `${thrown.message}; ${words}` });
  const { retryAfterMs: _, ...facts } = thrown.facts;
  return new CliError('check_failed', {
    ...facts,
    message: `cards.create is done, but ${card} could not be terminated: ${facts.message}; ${words}`,
    notes: ['Do not run the command again: its card was made, and may have paid.', ...(facts.notes ?? [])],
    outcome: 'done',
  });
}
