import { type CompletionShell, completionStub } from '../../cli/completion/completion-stubs.ts';
import { command } from '../../cli/parsing/command.ts';

const USUAL = 'Where the shell finds it at its next start';

/** A command that prints the completion script of one shell, the same text as the file in `completions/`. */
export function printsStub(shell: CompletionShell, install: string, does = USUAL) {
  return command({
    path: `completion ${shell}`,
    summary: `Print the completion script for ${shell}`,
    answers: { text: 'The script.' },
    examples: [
      { does, run: install },
      { does: 'To look at it first', run: `completion ${shell}` },
    ],
    run: async () => completionStub(shell),
    show: script => ({ noun: 'script', columns: [], data: script, prose: script }),
  });
}
