import { command } from '../../cli/parsing/command.ts';
import { confirmAndChange, FILES_CHANGED, SHELL_FLAG, showFiles } from './files.ts';

/** Takes away what `completion install` put there. */
export const completionUninstall = command({
  path: 'completion uninstall',
  summary: 'Remove the completion script',
  answers: { one: FILES_CHANGED },
  effect: 'reversible',
  ends: { not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.' },
  about: ['Your files are then, byte for byte, as before "completion install".'],
  flags: SHELL_FLAG,
  examples: [
    { does: 'For the shell you use', run: 'completion uninstall --yes' },
    { does: 'Only look', run: 'completion uninstall --shell zsh --dry-run' },
  ],
  run: (ctx, { shell }) => confirmAndChange(ctx, shell, 'uninstall'),
  show: showFiles,
});
