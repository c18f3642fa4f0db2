/**
 * What a shell loads for completion (docs/design/terminal.md, "Completion"): thin scripts without a command name in
 * them. They ask the hidden `__complete`, so they never grow old, and evaluate nothing that was typed.
 */
import { isAbsolute, join } from 'node:path';
import { usage } from '../../core/errors.ts';
import { shellQuote } from '../../core/shell-quote.ts';
import type { Environment } from '../../platform/host.ts';

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type CompletionShell = (typeof COMPLETION_SHELLS)[number];

/** Where `npm run generate` puts each script, below `completions/`. */
export const COMPLETION_FILES: Readonly<Record<CompletionShell, string>> = {
  bash: 'cardwright.bash',
  zsh: '_cardwright',
  fish: 'cardwright.fish',
  powershell: 'cardwright.ps1',
};

const BASH = String.raw`# bash completion for cardwright. Generated; printed by: cardwright completion bash
_cardwright() {
  local line=${'$'}{COMP_LINE:0:COMP_POINT} word=$2 broken='' answer
  COMPREPLY=()
  # bash breaks words at = and :, and replaces only the part behind.
  [[ ${'$'}{line##*[[:blank:]]} == *"$word" ]] && broken=${'$'}{line##*[[:blank:]]} broken=${'$'}{broken%"$word"}
  broken=${'$'}{broken//[\"\']/}
  while IFS= read -r answer; do
    if [[ $answer == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "$word")
    else
      COMPREPLY+=("${'$'}{answer#"$broken"}")
    fi
  done < <(command cardwright __complete bash "$line" 2>/dev/null)
}
complete -F _cardwright cardwright
`;

const ZSH = String.raw`#compdef cardwright
# zsh completion for cardwright. Generated; printed by: cardwright completion zsh
_cardwright() {
  local line
  local -a values shown
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      # File completion of zsh would run what stands in a substitution.
      [[ $PREFIX == *'$('* || $PREFIX == *'${'`'}'* ]] && return
      [[ $PREFIX == --*=* ]] && compset -P 1 '*='
      _files
      return
    fi
    values+=("${'$'}{line%%$'\t'*}")
    shown+=("${'$'}{line/$'\t'/  -- }")
  done < <(command cardwright __complete zsh "${'$'}{(@Q)words[2,CURRENT-1]}" "${'$'}{(Q)PREFIX}" 2>/dev/null)
  (( $#values )) && compadd -l -d shown -a values
}
if [[ $funcstack[1] == _cardwright ]]; then
  _cardwright "$@"
else
  compdef _cardwright cardwright
fi
`;

const FISH = String.raw`# fish completion for cardwright. Generated; printed by: cardwright completion fish
function __cardwright_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct | string unescape)
    set -l answers (command cardwright __complete fish $words "$current" 2>/dev/null)
    if test "$answers" = :files
        set -l before (string match -r -- '^--[^=]*=' "$current")
        for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
            echo "$before$path"
        end
    else if set -q answers[1]
        printf '%s\n' $answers
    end
end
complete -c cardwright -f -a '(__cardwright_complete)'
`;

const POWERSHELL = `# PowerShell completion for cardwright. Generated; printed by: cardwright completion powershell
Register-ArgumentCompleter -Native -CommandName cardwright -ScriptBlock {
    param($word, $tree, $cursor)
    $typed = ''
    $words = @(foreach ($element in $tree.CommandElements | Select-Object -Skip 1) {
        $extent = $element.Extent
        if ($extent.EndOffset -lt $cursor) { if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $element.Value } else { $extent.Text } }
        elseif ($extent.StartOffset -lt $cursor) { $typed = $extent.Text.Substring(0, $cursor - $extent.StartOffset).TrimStart('"', "'") }
    })
    # In base64, because a word may pass cmd.exe on its way, which would run what stands in it.
    $asked = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes((@($words) + $typed) -join [char]0))
    $answers = @(& (Get-Command cardwright -CommandType Application, ExternalScript -TotalCount 1) __complete powershell $asked 2>$null)
    # An empty text is no candidate, and keeps the shell from offering file names.
    if ($answers.Count -eq 0) { return '' }
    if ($answers[0] -eq ':files') {
        $before = if ($typed -match '^--[^=]*=') { $Matches[0] } else { '' }
        return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed.Substring($before.Length)) |
            ForEach-Object { [System.Management.Automation.CompletionResult]::new($before + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip) }
    }
    # The shell replaces only what stands behind a comma.
    $word = $word.TrimStart('"', "'")
    $broken = if ($typed.EndsWith($word)) { $typed.Length - $word.Length } else { 0 }
    foreach ($answer in $answers) {
        $value, $means = $answer.Split([char]9, 2)
        $text = if ($value -match '^[A-Za-z0-9._:/=-]+$') { $value.Substring($broken) } else { "'" + $value.Substring($broken) + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $(if ($means) { $means } else { $value }))
    }
}
`;

/** The script for a shell, ending with a newline. */
export function completionStub(shell: CompletionShell): string {
  return { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }[shell];
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
