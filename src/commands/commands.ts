import { endingsOf } from '../cli/docs/answers.ts';
import { command } from '../cli/parsing/command.ts';
import { type Command, commandsOf } from '../cli/parsing/declaration.ts';
import { option, optionalArgument, orNull, takes, tells } from '../cli/parsing/flag.ts';
import { quote } from '../cli/parsing/values.ts';
import type { AnyField } from '../contract/field.ts';
import { EFFECTS } from '../contract/operation.ts';
import { usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { REGISTRY } from './registry.ts';

const PART = {
  name: tells.text('Name.'),
  needed: tells.yes('Whether it must be given.'),
  choices: orNull(tells.texts('The words it takes.')),
  doc: tells.text('What it means.'),
} as const;

const NAME_ROW = {
  path: tells.text('Words of the command.'),
  summary: tells.text('What it does.'),
  effect: tells.word('What running it may do.', EFFECTS),
} as const;

const COMMAND_ROW = {
  ...NAME_ROW,
  operation: orNull(tells.text('Operation of the contract.')),
  args: tells.rows({ ...PART, many: tells.yes('Whether it takes several.') }, 'Operands, in order.'),
  flags: tells.rows(
    {
      ...PART,
      short: orNull(tells.text('Its letter, -f.')),
      placeholder: tells.text('Word for the value; empty for a switch.'),
      repeats: tells.yes('Repeatable.'),
    },
    'Options of its own.',
  ),
  examples: tells.rows(
    { does: tells.text('In words.'), run: tells.text('Without the name of the program.') },
    'Examples.',
  ),
  exit_codes: tells.rows({ exit: tells.count('Exit code.'), kind: tells.text('Kind of failure.') }, 'How it can end.'),
  program_exit: tells.yes('Whether it ends with the exit code of the program after --.'),
} as const;

export const listCommands = command({
  path: 'commands',
  summary: 'List every command: as data with its options, choices, effect and exit codes',
  answers: [{ list: COMMAND_ROW }, { list: NAME_ROW }],
  args: { group: optionalArgument(takes.text('Only commands of this group, such as cards.')) },
  flags: { names: option(takes.flag('Path, summary and effect alone.')) },
  examples: {
    'What there is': 'commands',
    'One group, for a program': 'commands cards --json',
    'All of them in short': 'commands --names --json',
  },
  async run(_ctx, { group, names }) {
    const groups = group === undefined ? REGISTRY : REGISTRY.filter(({ name }) => name === group);
    if (groups.length === 0) {
      const known = REGISTRY.map(({ name }) => name);
      throw usage(`there is no group ${quote(group ?? '')}.${didYouMean(group ?? '', known)}`, 'cardwright --help');
    }
    const found = (await Promise.all(groups.map(commandsOf))).flat();
    return found.map(each =>
      names ? { path: each.path, summary: each.summary, effect: each.effect } : describe(each),
    );
  },
  columns: ['path summary operation:2+ effect:3+', { path: 'COMMAND', summary: { title: 'DOES', shrink: 'wraps' } }],
  noun: 'command',
  idField: 'path',
});

function describe(of: Command) {
  const said = ({ choices, item, doc }: AnyField) => ({ choices: choices ?? item?.choices ?? null, doc });
  return {
    path: of.path,
    summary: of.summary,
    operation: of.operation ?? null,
    effect: of.effect,
    args: of.args.map(({ key, field, many, optional }) => {
      return { name: key, needed: optional !== true, many, ...said(field) };
    }),
    flags: of.flags.map(({ name, short = null, placeholder, needed, repeats, field }) => {
      return { name, short, placeholder, needed, repeats, ...said(field) };
    }),
    examples: of.examples.map(({ does, run }) => ({ does, run })),
    exit_codes: [{ exit: 0, kind: 'done' }, ...endingsOf(of)].map(({ exit, kind }) => ({ exit, kind })),
    program_exit: of.rest === 'run for its exit code',
  };
}
