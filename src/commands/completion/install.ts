import { command } from '../../cli/parsing/command.ts';
import { confirmAndChange, FILES_CHANGED, SHELL_FLAG, showFiles } from './files.ts';

/** Puts the script where the shell looks for it. */
export const completionInstall = command({
  path: 'completion install',
  summary: 'Install the completion script for your shell',
  answers: { one: FILES_CHANGED },
  effect: 'reversible',
  ends: { not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.' },
  about: [
    'Without --shell it is the shell of the variable SHELL. For fish the script goes into its completions folder. For bash, zsh and PowerShell a few marked lines are added to their start-up file. The change is shown first.',
    'You can run it again: it changes nothing, or updates an older script. For a symbolic link the file behind it is changed. A read-only file is not changed; the lines to add are shown. "completion uninstall" restores your files byte for byte.',
  ],
  flags: SHELL_FLAG,
  examples: [
    { does: 'For the shell you use', run: 'completion install --yes' },
    { does: 'Only look', run: 'completion install --shell zsh --dry-run' },
  ],
  run: (ctx, { shell }) => confirmAndChange(ctx, shell, 'install'),
  show: showFiles,
});
