import { command } from '../../cli/parsing/command.ts';
import { asked, FILES_CHANGED, SHELL_FLAG, showFiles } from './files.ts';

/** Puts the script where the shell looks for it. */
export const completionInstall = command({
  path: 'completion install',
  summary: 'Put the completion script where your shell finds it',
  answers: { one: FILES_CHANGED },
  effect: 'reversible',
  ends: { not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.' },
  about: [
    'The shell is the one of --shell, else of SHELL. fish looks into a folder by itself; bash, zsh and PowerShell are told in the file they read at their start, by a few lines between two marks. What will be changed is shown first.',
    'Doing it again changes nothing, or brings an older script up to date. A file that is a link is changed where it really is; one that is write-protected is left alone, and the lines are shown to be added by hand. "completion uninstall" leaves every byte as it was.',
  ],
  flags: SHELL_FLAG,
  examples: [
    { does: 'For the shell you use', run: 'completion install --yes' },
    { does: 'Only look', run: 'completion install --shell zsh --dry-run' },
  ],
  run: (ctx, { shell }) => asked(ctx, shell, 'install'),
  show: showFiles,
});
