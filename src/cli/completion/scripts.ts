/**
 * What a shell loads for completion (docs/design/terminal.md, "Completion"): thin scripts without a command name in
 * them. They ask the hidden `__complete`, so they never grow old, and evaluate nothing that was typed.
 */
import { isAbsolute, join } from 'node:path';
import { usage } from '../../core/errors.ts';
import { shellQuote } from '../../core/shell-quote.ts';
import type { Environment } from '../../platform/host.ts';
import { shippedText } from '../docs/kept-pages.ts';

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type CompletionShell = (typeof COMPLETION_SHELLS)[number];

/** The script of each shell, in `completions/`. */
export const COMPLETION_FILES: Readonly<Record<CompletionShell, string>> = {
  bash: 'cardwright.bash',
  zsh: '_cardwright',
  fish: 'cardwright.fish',
  powershell: 'cardwright.ps1',
};

/** The script for a shell, ending with a newline. */
export function completionStub(shell: CompletionShell): string {
  return shippedText(`completions/${COMPLETION_FILES[shell]}`);
}

/**
 * The file of the script, and what a start-up file must say of it where the shell does not look there by itself: `needed` by whom.
 * Throws `usage` without a home, and for PowerShell on Windows, where only it knows the place of its files.
 */
export function completionPlace(shell: CompletionShell, env: Environment, platform: NodeJS.Platform) {
  const home = env['HOME'];
  if (home === undefined || !isAbsolute(home) || platform === 'win32')
    throw usage(
      shell === 'powershell'
        ? 'only PowerShell knows the place of its profile on this system; add the output of "completion powershell" to $PROFILE'
        : 'HOME is not an absolute path, so the files of the shell cannot be found',
      `cardwright completion ${shell}`,
    );
  // As XDG has it, a relative folder counts as none.
  const xdg = (variable: string, otherwise: string) => {
    const named = env[variable] ?? '';
    return isAbsolute(named) ? named : otherwise;
  };
  const data = xdg('XDG_DATA_HOME', join(home, '.local', 'share'));
  const config = xdg('XDG_CONFIG_HOME', join(home, '.config'));
  switch (shell) {
    case 'bash': {
      const script = join(data, 'bash-completion', 'completions', 'cardwright');
      return { script, needed: 'Without the package bash-completion, in ~/.bashrc', line: `. ${shellQuote(script)}` };
    }
    case 'zsh': {
      const script = join(data, 'zsh', 'site-functions', COMPLETION_FILES.zsh);
      const line = `autoload -Uz compinit && compinit -i; source ${shellQuote(script)}`;
      return { script, needed: 'In ~/.zshrc', line };
    }
    case 'fish':
      return { script: join(config, 'fish', 'completions', COMPLETION_FILES.fish), needed: undefined, line: null };
    case 'powershell': {
      const script = join(config, 'powershell', COMPLETION_FILES.powershell);
      return { script, needed: 'In $PROFILE', line: `. ${shellQuote(script)}` };
    }
  }
}

/** How the script of a shell begins, in every version. */
export function completionMark(shell: CompletionShell): string {
  const [mark = ''] = completionStub(shell).split('printed by');
  return mark;
}
