import {
  COMPLETION_SHELLS,
  type CompletionShell,
  completionMark,
  completionPlace,
  completionStub,
} from '../cli/completion/scripts.ts';
import type { Context, Shown } from '../cli/context.ts';
import { command } from '../cli/parsing/command.ts';
import { option, optionalArgument, orNull, takes, tells } from '../cli/parsing/flag.ts';
import { notSent, usage } from '../core/errors.ts';
import { copiedLine, lineBlock } from '../terminal/view.ts';

const FILE_CHANGED = {
  shell: tells.word('The shell.', COMPLETION_SHELLS),
  changed: tells.yes('False in a dry run.'),
  file: tells.text('The file of the script.'),
  line: orNull(
    tells.text('What a start-up file of the shell must say, where the shell does not find the script by itself.'),
  ),
};

export const completion = command({
  path: 'completion',
  summary: 'Print the completion script of a shell, install or uninstall it',
  answers: [{ text: 'The script.' }, { one: FILE_CHANGED }],
  effect: 'reversible',
  dryRun: true,
  effectSays: 'prints; with --install or --uninstall changes a file of your shell, and asks first',
  ends: {
    not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.',
    guarded: 'A file stands there that is not ours. It was not changed.',
  },
  about: [
    'Without a name it is the shell of the variable SHELL. The script goes where the shell looks for it; where it does not look by itself, the line for its start-up file is printed, and that file is never touched. The file is shown first.',
    'You can install again, which updates an older script. A script that is not ours is left as it is.',
  ],
  args: { shell: optionalArgument(takes.choice(COMPLETION_SHELLS, 'Which shell.')) },
  flags: {
    install: option(takes.flag('Put it where the shell looks for it.')),
    uninstall: option(takes.flag('Take it away again.'), { conflicts: ['install'] }),
  },
  examples: {
    'For the shell you use': 'completion --install --yes',
    'Only look': 'completion zsh --install --dry-run',
    'The script, for a file of your own': 'completion bash > ~/.local/share/cardwright.bash',
  },
  async run(ctx, { shell: named, install, uninstall }) {
    const shell = named ?? COMPLETION_SHELLS.find(each => each === ctx.env['SHELL']?.split('/').at(-1));
    if (shell === undefined)
      throw usage(`SHELL does not name a known shell; give one: ${COMPLETION_SHELLS.join(', ')}`);
    if (!install && !uninstall) return { script: completionStub(shell) };
    return changeFile(ctx, shell, install ? 'install' : 'uninstall');
  },
  show: result =>
    'script' in result ? { noun: 'script', columns: [], data: result.script, prose: result.script } : shownFile(result),
});

/** Names the file, asks, and writes it or takes it away; in a dry run it is only named. */
async function changeFile(ctx: Context, shell: CompletionShell, wanted: 'install' | 'uninstall') {
  const { script: file, needed, line } = completionPlace(shell, ctx.env, ctx.platform);
  const isThere = wanted === 'install';
  const about = { shell, isThere, file, needed, line };
  if (ctx.dryRun) return { ...about, changed: false };
  if (!ctx.ui.yes) ctx.ui.notice(`${isThere ? 'write' : 'remove'} ${file}`);
  await ctx.ui.confirmed(
    `${isThere ? 'Install' : 'Uninstall'} the completion for ${shell}`,
    isThere ? 'Make this change?' : 'Take it away?',
  );
  const edit = (before: Buffer | undefined) => {
    if (before !== undefined && !before.toString().startsWith(completionMark(shell)))
      throw notSent('guarded', `${JSON.stringify(file)} exists and was not written by cardwright; it was not changed`);
    return isThere ? Buffer.from(completionStub(shell)) : undefined;
  };
  await ctx.files.editFiles([{ path: file, edit }], true);
  return { ...about, changed: true };
}

function shownFile({ shell, isThere, changed, file, needed, line }: Awaited<ReturnType<typeof changeFile>>): Shown {
  const does = isThere ? 'Installed' : 'Uninstalled';
  return {
    data: { shell, changed, file, line },
    noun: 'file',
    columns: [],
    blocks: [
      copiedLine(
        changed ? `${does} the completion for ${shell}: ${file}` : `Dry run, nothing was changed for ${shell}: ${file}`,
      ),
      // A line of its own, whole: it is copied.
      ...(line === null ? [] : [lineBlock(isThere ? `${needed}:` : 'No longer needed:'), copiedLine(line)]),
    ],
    notes: changed && isThere ? ['It works in the next shell you open.'] : [],
  };
}
