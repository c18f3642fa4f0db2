import { tells } from '../../cli/answer-fields.ts';
import type { PlannedFile } from '../../cli/completion/completion-places.ts';
import { COMPLETION_SHELLS, type CompletionShell } from '../../cli/completion/completion-stubs.ts';
import { confirmed } from '../../cli/confirm.ts';
import type { Context } from '../../cli/context.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import type { Shown } from '../../cli/shown.ts';
import { choice } from '../../contract/field.ts';
import type { Environment } from '../../platform/host.ts';

export const SHELL_FLAG = {
  shell: option(choice(COMPLETION_SHELLS, { doc: 'Which shell; by default that of the variable SHELL.', basis: OURS })),
};

export const FILES_CHANGED = {
  shell: tells.word('The shell.', COMPLETION_SHELLS),
  changed: tells.yes('False if there was nothing to change, and in a dry run.'),
  files: tells.rows(
    {
      path: tells.text('The file.'),
      action: tells.word('What happens to it.', ['create', 'change', 'remove', 'none']),
    },
    'Files it takes.',
  ),
};

interface Outcome {
  readonly shell: CompletionShell;
  readonly wanted: 'install' | 'uninstall';
  readonly changed: boolean;
  readonly files: readonly PlannedFile[];
}

const DOES = { create: 'make', change: 'change', remove: 'remove', none: 'leave' } as const;

/** The shell that is named, else the one of `SHELL`. Throws `usage` when that is none of ours. */
function shellOf(named: CompletionShell | undefined, env: Environment): CompletionShell {
  const found = named ?? COMPLETION_SHELLS.find(shell => shell === env['SHELL']?.split('/').at(-1));
  if (found !== undefined) return found;
  throw usage(`SHELL does not name a known shell; give one: --shell ${COMPLETION_SHELLS.join('|')}`);
}

/** Shows what would be changed, asks, and changes it; in a dry run it is only shown. */
export async function confirmAndChange(
  ctx: Context,
  named: CompletionShell | undefined,
  wanted: Outcome['wanted'],
): Promise<Outcome> {
  const shell = shellOf(named, ctx.env);
  const places = await ctx.completionFiles();
  const planned = await places.plan(shell, wanted);
  const due = planned.filter(({ action }) => action !== 'none');
  if (due.length === 0 || ctx.dryRun) return { shell, wanted, changed: false, files: planned };
  if (!ctx.yes) for (const file of due) for (const line of linesOf(file)) ctx.notice(line);
  await confirmed(ctx, {
    intent: `${wanted === 'install' ? 'Install' : 'Uninstall'} the completion for ${shell}`,
    question: wanted === 'install' ? 'Make these changes?' : 'Take it away?',
    command: `cardwright completion ${wanted} --shell ${shell} --yes`,
  });
  return { shell, wanted, changed: true, files: await places.carryOut(shell, wanted) };
}

/** Lines that go into a file of the user's own are shown; a file of ours is what "completion <shell>" prints. */
function linesOf({ path, action, text }: PlannedFile): readonly string[] {
  const lines = action === 'change' || text.split('\n').length < 6 ? text.trimEnd().split('\n') : [];
  return [`${DOES[action]} ${path}`, ...(action === 'remove' ? [] : lines.map(line => `    ${line}`))];
}

export function showFiles({ shell, wanted, changed, files }: Outcome): Shown {
  const rows = files.map(({ path, action }) => ({ path, action }));
  const done = wanted === 'install' ? 'Installed' : 'Uninstalled';
  return {
    data: { shell, changed, files: rows },
    noun: 'file',
    columns: [],
    blocks: [
      { kind: 'line', text: changed ? `${done} the completion for ${shell}.` : `Nothing was changed for ${shell}.` },
      { kind: 'pairs', pairs: rows.map(({ path, action }) => [DOES[action], path]) },
    ],
    notes: changed && wanted === 'install' ? ['It works in the next shell you open.'] : [],
  };
}
