/** What became of the program of a lease. It is told also where the card could not be terminated after it. */
import { CliError } from '../../core/errors.ts';

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

/** The error of an end that failed, with what became of the program. */
export function withProgramEnd(thrown: unknown, { words }: ProgramEnd): unknown {
  return thrown instanceof CliError ? thrown.with({ message: `${thrown.message}; ${words}` }) : thrown;
}
