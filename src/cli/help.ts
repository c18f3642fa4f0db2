/**
 * Help pages, all from the declarations and the contract; plain text, 80 columns. The order is fixed: what it does,
 * usage, options, effect, the JSON it prints, exit codes with the errors behind them, examples.
 */
import { basisText } from '../contract/basis.ts';
import type { Shape } from '../contract/field.ts';
import type { Effect, Operation } from '../contract/operation.ts';
import { REFUSALS } from '../contract/refusals.ts';
import { limitText } from '../contract/violation.ts';
import { ERROR_KINDS } from '../errors.ts';
import type { Answers } from './answer-fields.ts';
import { answersOf } from './answers.ts';
import type { Command, Example, Registry } from './command.ts';
import { exitKinds } from './exit-kinds.ts';
import { GLOBALS, type GlobalOption } from './globals.ts';
import type { Located } from './locate.ts';
import { effectOf, flagsOf, type ResolvedFlag, rowOf } from './resolved-flags.ts';
import { hang, wrap, wrapCommand } from './wrap.ts';

const EFFECTS: Readonly<Record<Effect, string>> = {
  read: 'reads only',
  reversible: 'changes state; can be undone',
  'moves-money': 'moves money',
  irreversible: 'cannot be undone; asks first',
  'reveals-secret': 'reveals card data; asks first',
};

/** Help of the root, of a group or of a command, by where the words led. */
export function helpText(located: Located, registry: Registry): string {
  if (located.command) {
    const page = commandHelp(located.command);
    const below = located.commands.filter(
      ({ hidden, path }) => !hidden && path.startsWith(`${located.command?.path} `),
    );
    return below.length === 0 ? page : `${page}\nAlso\n${verbList(below)}`;
  }
  if (located.group) return groupHelp(located);
  return rootHelp(registry);
}

function rootHelp(registry: Registry): string {
  const listed = registry.filter(({ unlisted }) => unlisted !== true);
  const topics = registry.find(({ name }) => name === 'help');
  const headings = [...new Set(listed.map(({ heading }) => heading))];
  const width = Math.max(...listed.map(({ name }) => name.length)) + 2;
  const sections = headings.map(heading => {
    const rows = listed.filter(group => group.heading === heading);
    return `${heading}\n${rows.map(({ name, summary }) => hang(`  ${name.padEnd(width)}`, summary)).join('')}`;
  });
  const shown = (GLOBALS as readonly GlobalOption[]).filter(option => option.shown);
  return `Issue, fund, freeze and watch virtual cards from a terminal, a script or CI.

Usage: cardwright <command> [options]

${sections.join('')}
Options
${globalRows(shown)}
Examples
  $ cardwright --sandbox cards create --bin auto --amount 25 --label "CI run"
  $ cardwright --sandbox cards list --status active -o id | \\
      cardwright --sandbox cards freeze -
${topics === undefined ? '' : `\n${hang('Topics: help ', topics.summary)}`}`;
}

function groupHelp({ group, commands, words }: Located): string {
  const path = words.join(' ');
  const below = commands.filter(command => !command.hidden && command.path.startsWith(`${path} `));
  const summary = words.length === 1 ? `${path}: ${group?.summary}` : path;
  return `${summary}

Usage: cardwright ${path} <command> [options]

Commands
${verbList(below)}
Each command: cardwright ${path} <command> --help
`;
}

function verbList(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ path }) => path.length)) + 2;
  return commands.map(({ path, summary }) => hang(`  ${path.padEnd(width)}`, summary)).join('');
}

function commandHelp(command: Command): string {
  const row = command.operation === undefined ? undefined : (rowOf(command.operation) as Operation);
  const flags = flagsOf(command);
  const parts = [
    `${command.summary}.\n`,
    usageLine(command, flags),
    ...command.about.map(paragraph => wrap(paragraph)),
    flags.length > 0 ? `Options\n${flags.map(flagRow).join('')}` : '',
    wrap(`Effect: ${EFFECTS[effectOf(command)]}.${row ? basisLine(command, row) : ''}`),
    `JSON\n${answerLines(command)}`,
    `Exit codes\n${exitRows(row)}`,
    `Examples\n${command.examples.map(exampleRows).join('')}`,
    'Options of every command: cardwright help options\n',
  ];
  return parts.filter(part => part !== '').join('\n');
}

function usageLine(command: Command, flags: readonly ResolvedFlag[]): string {
  const args = Object.entries(command.args).map(([name, { many, optional }]) => {
    const word = many ? `${name}...${optional ? '' : '|-'}` : name;
    return optional ? `[${word}]` : `<${word}>`;
  });
  const needed = flags.filter(flag => flag.needed).map(flag => `${flag.name} ${flag.placeholder}`.trim());
  const more = flags.some(flag => !flag.needed) ? ['[options]'] : [];
  const program = command.rest ? ['-- <command...>'] : [];
  const single = hang('Usage: ', ['cardwright', command.path, ...args, ...needed, ...more, ...program].join(' '));
  if (command.runFlags === undefined) return single;
  return `${single}${hang('       ', `cardwright ${command.path} --file <csv|ndjson|-> [options]`)}`;
}

function exampleRows({ does, run }: Example): string {
  return hang('  # ', does) + wrapCommand('  $ ', `cardwright ${run}`);
}

function flagRow({ name, placeholder, field, needed, repeats }: ResolvedFlag): string {
  const limit =
    field.kind === 'choice'
      ? (field.choices ?? []).join(', ')
      : limitText(field.kind === 'list' ? (field.item ?? field) : field);
  const facts = [
    limit && `${limit}`,
    field.defaults !== undefined && `default ${field.defaults}`,
    repeats && 'repeatable',
    needed && 'required',
  ].filter(Boolean);
  const means = facts.length > 0 ? `${field.doc} (${facts.join('; ')})` : field.doc;
  return hang(`  ${`${name} ${placeholder}`.trim().padEnd(28)}`, means);
}

function globalRows(options: readonly GlobalOption[]): string {
  return options
    .map(({ name, short, value, means, env }) => {
      const lead = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`;
      return hang(`  ${lead.padEnd(28)}`, env === undefined ? means : `${means} (${env})`);
    })
    .join('');
}

function basisLine(command: Command, row: Operation): string {
  const from = basisText(row.basis);
  return from === '' ? '' : ` ${command.operation}: ${row.method} ${row.path} (${from}).`;
}

/** The shape of the answer in a line or two; the types are told by `schema`. */
function answerLines(command: Command): string {
  const said = answersOf(command);
  const branches = said === undefined ? [] : 'either' in said ? said.either : [said];
  const lines = branches.map(each => hang('  ', answerText(each)));
  const typed = branches.some(each => 'one' in each || 'list' in each);
  return `${lines.join('')}${typed ? `  Types: cardwright schema ${command.path}\n` : ''}`;
}

function answerText(answers: Answers): string {
  if ('one' in answers) return `{${names(answers.one)}}`;
  if ('list' in answers) return `{data: [{${names(answers.list)}}], page}`;
  if ('text' in answers) return `Text: ${answers.text}`;
  if ('any' in answers) return answers.any;
  return 'none' in answers ? `None: ${answers.none}` : '';
}

/** Fields in their order; what may be left out carries a question mark. */
function names(shape: Shape): string {
  return Object.entries(shape)
    .map(([name, field]) => (field.must ? name : `${name}?`))
    .join(', ');
}

function exitRows(row: Operation | undefined): string {
  const rows = exitKinds(row).map(kind => {
    const said = (row?.fails ?? []).filter(name => REFUSALS[name].kind === kind);
    const means = `${kind}: ${ERROR_KINDS[kind].means}${said.length === 0 ? '' : ` (${said.join(', ')})`}`;
    return hang(`  ${String(ERROR_KINDS[kind].exit).padStart(2)}  `, means);
  });
  return `   0  done\n${rows.join('')}`;
}
