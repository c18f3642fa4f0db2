import { COMPLETION_SHELLS, type CompletionShell, completionEdit, completionStub } from '../cli/completion/scripts.ts';
import { confirmed } from '../cli/confirm.ts';
import type { Context, Shown } from '../cli/context.ts';
import { command } from '../cli/parsing/command.ts';
import { option, optionalArgument, orNull, takes, tells } from '../cli/parsing/flag.ts';
import { usage } from '../core/errors.ts';
import type { Environment } from '../platform/host.ts';
import { lineBlock, pairsBlock } from '../terminal/view.ts';

const FILES_CHANGED = {
  shell: tells.word('The shell.', COMPLETION_SHELLS),
  changed: tells.yes('False if there was nothing to change, and in a dry run.'),
  files: tells.rows(
    {
      path: tells.text('The file.'),
      action: tells.word('What happens to it.', ['create', 'change', 'remove', 'none']),
    },
    'Files it takes.',
  ),
  line: orNull(
    tells.text('What a start-up file of the shell must say, where the shell does not find the script by itself.'),
  ),
};

export const completion = command({
  path: 'completion',
  summary: 'Print the completion script of a shell, install or uninstall it',
  answers: { either: [{ text: 'The script.' }, { one: FILES_CHANGED }] },
  effect: 'reversible',
  dryRun: true,
  effectSays: 'prints; with --install or --uninstall changes a file of your shell, and asks first',
  ends: { not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.' },
  about: [
    'Without a name it is the shell of the variable SHELL. The script goes where the shell looks for it; where it does not look by itself, the line for its start-up file is printed, and that file is never touched. The change is shown first.',
    'You can install again: it changes nothing, or updates an older script.',
  ],
  args: { shell: optionalArgument(takes.choice(COMPLETION_SHELLS, 'Which shell.')) },
  flags: {
    install: option(takes.flag('Put it where the shell looks for it.')),
    uninstall: option(takes.flag('Take it away again.')),
  },
  examples: [
    { does: 'For the shell you use', run: 'completion --install --yes' },
    { does: 'Only look', run: 'completion zsh --install --dry-run' },
    { does: 'The script, for a file of your own', run: 'completion bash > ~/.local/share/cardwright.bash' },
  ],
  async run(ctx, { shell: named, install, uninstall }) {
    if (install && uninstall) throw usage('--install and --uninstall exclude each other');
    const shell = shellOf(named, ctx.env);
    if (!install && !uninstall) return { script: completionStub(shell) };
    return changeFiles(ctx, shell, install ? 'install' : 'uninstall');
  },
  show: result =>
    'script' in result
      ? { noun: 'script', columns: [], data: result.script, prose: result.script }
      : shownFiles(result),
});

const DOES = { create: 'make', change: 'change', remove: 'remove', none: 'leave' } as const;

/** The shell that is named, else the one of `SHELL`. Throws `usage` when that is none of ours. */
function shellOf(named: CompletionShell | undefined, env: Environment): CompletionShell {
  const found = named ?? COMPLETION_SHELLS.find(shell => shell === env['SHELL']?.split('/').at(-1));
  if (found !== undefined) return found;
  throw usage(`SHELL does not name a known shell; give one: ${COMPLETION_SHELLS.join(', ')}`);
}

/** Shows what would be changed, asks, and changes it; in a dry run it is only shown. */
async function changeFiles(ctx: Context, shell: CompletionShell, wanted: 'install' | 'uninstall') {
  const { edit, needed, line } = completionEdit(shell, wanted, ctx);
  const files = await ctx.files.editFiles([edit], false);
  const due = files.filter(({ action }) => action !== 'none');
  const start = { needed, line };
  if (due.length === 0 || ctx.dryRun) return { shell, wanted, changed: false, files, start };
  if (!ctx.ui.yes) for (const { path, action } of due) ctx.ui.notice(`${DOES[action]} ${path}`);
  await confirmed(
    ctx,
    `${wanted === 'install' ? 'Install' : 'Uninstall'} the completion for ${shell}`,
    `cardwright completion ${shell} --${wanted} --yes`,
    wanted === 'install' ? 'Make this change?' : 'Take it away?',
  );
  return { shell, wanted, changed: true, files: await ctx.files.editFiles([edit], true), start };
}

function shownFiles({ shell, wanted, changed, files, start }: Awaited<ReturnType<typeof changeFiles>>): Shown {
  const rows = files.map(({ path, action }) => ({ path, action }));
  const isThere = wanted === 'install';
  const line = isThere ? `${start.needed}: ${start.line}` : `No longer needed: ${start.line}`;
  return {
    data: { shell, changed, files: rows, line: start.line },
    noun: 'file',
    columns: [],
    blocks: [
      lineBlock(
        changed
          ? `${isThere ? 'Installed' : 'Uninstalled'} the completion for ${shell}.`
          : `Nothing was changed for ${shell}.`,
      ),
      pairsBlock(rows.map(({ path, action }) => [DOES[action], path])),
    ],
    notes: [
      ...(start.line === null ? [] : [line]),
      ...(changed && isThere ? ['It works in the next shell you open.'] : []),
    ],
  };
}
