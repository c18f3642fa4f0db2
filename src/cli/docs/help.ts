/** Pages of help as text, wrapped for a terminal. */

import { GLOBALS, type GlobalOption } from '../../app/globals.ts';
import type { AnyField, Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Effect } from '../../contract/operation.ts';
import { limitText } from '../../contract/violation.ts';
import { fold, ROUGHLY } from '../../terminal/fold.ts';
import { type Command, commandsOf, type Registry } from '../parsing/declaration.ts';
import type { Answers, Flag, NamedArgument } from '../parsing/flag.ts';
import type { Located } from '../parsing/tree.ts';
import { answersOf, endingsOf } from './answers.ts';
import { pageHead } from './kept-pages.ts';

const WIDTH = 80;

/** `lead` and then `text`, wrapped with a hanging indent below the lead's end. Ends with a newline. */
export function hang(lead: string, text: string): string {
  const indent = ' '.repeat(lead.length);
  return fold(text, { cells: WIDTH - lead.length, indent: 0, measure: ROUGHLY })
    .map((line, index) => `${`${index === 0 ? lead : indent}${line}`.trimEnd()}\n`)
    .join('');
}

/** A paragraph. Ends with a newline. */
export function wrap(text: string): string {
  return hang('', text);
}

/** A command line for a person to copy, continued with backslashes where it is longer than the page. */
export function wrapCommand(lead: string, line: string): string {
  // Broken before an option or a redirection, so that no quoted text is torn.
  const [first = '', ...rest] = line.split(/ (?=--?[a-z]|[<>|] )/);
  const lines = [lead + first];
  for (const part of rest) {
    const last = lines.at(-1) ?? '';
    // Two columns stay free for the backslash.
    if (last.length + 1 + part.length <= WIDTH - 2) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`${' '.repeat(lead.length + 2)}${part}`);
  }
  return `${lines.join(' \\\n')}\n`;
}

/** Help of the root, of a group or of a command, by where the words led. */
export async function helpText({ group, declared, words }: Located, registry: Registry): Promise<string> {
  if (group === undefined) return rootHelp(registry);
  const path = words.join(' ');
  const below = (await commandsOf(group)).filter(each => each.path.startsWith(`${path} `));
  if (declared === undefined) return groupHelp(words.length === 1 ? `${path}: ${group.summary}` : path, path, below);
  const page = commandHelp(declared);
  return below.length === 0 ? page : `${page}\nAlso\n${verbList(below)}`;
}

const PURPOSE = 'Issue, fund, freeze and watch virtual cards from a terminal, a script or CI.';

/** What a run without any word shows: how to begin, and the names of the commands. It fits on a screen of 24 lines. */
export function startText(registry: Registry): string {
  const listed = registry.filter(({ unlisted }) => unlisted !== true);
  const headings = [...new Set(listed.map(({ heading }) => heading))];
  const width = Math.max(...headings.map(({ length }) => length)) + 2;
  const rows = headings.map(heading => {
    const names = listed.filter(group => group.heading === heading).map(({ name }) => name);
    return hang(`  ${heading.padEnd(width)}`, names.join(', '));
  });
  return `${PURPOSE}

Offline and without a key, in a sandbox that is the whole service:
  $ cardwright --sandbox cards create --bin auto --amount 25 --label "CI run"
  $ cardwright --sandbox cards list
With your own account:
  $ cardwright login
  $ cardwright overview

Commands
${rows.join('')}
Each with a line about it   cardwright --help
One of them                 cardwright cards --help
What scripts rely on        cardwright help scripting
Exit codes                  cardwright help exit-codes
`;
}

export function rootHelp(registry: Registry): string {
  const listed = registry.filter(({ unlisted }) => unlisted !== true);
  const topics = registry.find(({ name }) => name === 'help');
  const headings = [...new Set(listed.map(({ heading }) => heading))];
  const width = Math.max(...listed.map(({ name }) => name.length)) + 2;
  const sections = headings.map(heading => {
    const rows = listed.filter(group => group.heading === heading);
    return `${heading}\n${rows.map(({ name, summary }) => hang(`  ${name.padEnd(width)}`, summary)).join('')}`;
  });
  const shown = GLOBALS.filter(option => option.shown);
  return `${PURPOSE}

Usage: cardwright <command> [options]

${sections.join('')}
Options
${globalRows(shown)}
Examples
  $ cardwright --sandbox cards create --bin auto --amount 25 --label "CI run"
  $ cardwright --sandbox cards list --status active --all -o id | \\
      cardwright --sandbox cards freeze -
${topics === undefined ? '' : `\n${hang('Topics: help ', topics.summary)}`}`;
}

function groupHelp(summary: string, path: string, below: readonly Command[]): string {
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

/** The page of a command, in the order that every page has. */
export function commandHelp(command: Command): string {
  const { row, args, flags } = command;
  const answers = answersOf(command);
  const json = answers.map(each => hang('  ', answerText(each))).join('');
  // The shape of the answer in a line or two; the types are told by `schema`.
  const isTyped = answers.some(each => 'one' in each || 'list' in each);
  const effects = row?.section === 'sandbox' ? { ...EFFECTS, reversible: IN_SANDBOX } : EFFECTS;
  const effect = command.effectSays ?? effects[command.effect];
  const parts = [
    `${command.summary}.\n`,
    usageLines(command)
      .map((line, index) => hang(index === 0 ? 'Usage: ' : '       ', line))
      .join(''),
    ...command.about.map(wrap),
    section('Arguments', args.map(argumentRow).join('')),
    section('Options', flags.map(flagRow).join('')),
    section(
      command.terms?.title ?? '',
      command.terms?.rows.map(({ term, means }) => optionRow(term, means)).join('') ?? '',
    ),
    wrap(`Effect: ${effect}.${row ? ` ${command.operation}: ${row.method} ${row.path}.` : ''}`),
    section('JSON', `${json}${isTyped ? `  Types: cardwright schema ${command.path}\n` : ''}`),
    section('Exit codes', exitLines(command)),
    section(
      'Examples',
      command.examples.map(({ does, run }) => hang('  # ', does) + wrapCommand('  $ ', `cardwright ${run}`)).join(''),
    ),
    'Options of every command: cardwright help options\n',
  ];
  return parts.filter(part => part !== '').join('\n');
}

const EFFECTS: Readonly<Record<Effect, string>> = {
  read: 'reads only',
  reversible: 'changes state; can be undone',
  'moves-money': 'moves money',
  irreversible: 'cannot be undone; asks first',
  'reveals-secret': 'reveals card data; asks first',
};
const IN_SANDBOX = 'changes the sandbox; a snapshot saved before brings it back as it was';

function usageLines({ path, args, flags, rest, runFlags }: Command): readonly string[] {
  const places = args.map(({ key, field, many, optional }) => {
    const word = many ? `${key}...${optional ? '' : '|-'}` : `${key}${field.names === 'card' ? '|-' : ''}`;
    return optional ? `[${word}]` : `<${word}>`;
  });
  const needed = flags.filter(flag => flag.needed).map(flag => `${flag.name} ${flag.placeholder}`.trim());
  const more = flags.some(flag => !flag.needed) ? ['[options]'] : [];
  const program = { kept: ['[-- <command...>]'], 'run for its exit code': ['-- <command...>'], none: [] };
  const single = ['cardwright', path, ...places, ...needed, ...more, ...program[rest ?? 'none']].join(' ');
  if (runFlags === undefined) return [single];
  const { selection } = runFlags;
  const aim = selection.includes('to') ? ' --to <usd>' : '';
  const chosen = selection.length > 0 ? [`cardwright ${path} --where <field><op><value>${aim} [options]`] : [];
  return [single, ...chosen, `cardwright ${path} --file <csv|ndjson|-> [options]`];
}

function argumentRow({ key, field, many }: NamedArgument): string {
  const limit = limitOf(field);
  return optionRow(`<${many ? `${key}...` : key}>`, limit === '' ? field.doc : `${field.doc} (${limit})`);
}

function flagRow({ name, short, placeholder, field, needed, repeats }: Flag): string {
  const facts = [
    limitOf(field),
    field.defaults !== undefined && `default ${field.defaults}`,
    repeats && 'repeatable',
    needed && 'required',
  ].filter(Boolean);
  const means = facts.length > 0 ? `${field.doc} (${facts.join('; ')})` : field.doc;
  return optionRow(`${short === undefined ? '' : `${short}, `}${name} ${placeholder}`.trim(), means);
}

function limitOf(field: AnyField): string {
  const { metadataKeyLength: key, metadataValueLength: value } = LIMITS;
  if (field.kind === 'choice') return (field.choices ?? []).join(', ');
  const limit = limitText(field.kind === 'list' ? (field.item ?? field) : field);
  return field.maxKeys === undefined ? limit : `${limit}, of ${key.max} characters; values of ${value.max}`;
}

function answerText(answers: Answers): string {
  if ('one' in answers) return `{${names(answers.one)}}`;
  if ('list' in answers) return `{data: [{${names(answers.list)}}], page}`;
  if ('text' in answers) return `Text: ${answers.text}`;
  if ('any' in answers) return answers.any;
  return `None: ${answers.none}`;
}

/** Fields in their order; what may be left out carries a question mark. */
function names(shape: Shape): string {
  return Object.entries(shape)
    .map(([name, field]) => (field.must ? name : `${name}?`))
    .join(', ');
}

/** What says something of this command, then every other way it can end, in one line. */
function exitLines(command: Command): string {
  const line = (exit: string, means: string) => hang(`  ${exit.padStart(2)}  `, means);
  const endings = endingsOf(command);
  const own = endings.filter(ending => ending.own).map(({ exit, kind, means }) => line(`${exit}`, `${kind}: ${means}`));
  const program =
    command.rest === 'run for its exit code' ? line('n', 'program: Whatever the program after -- ended with.') : '';
  const others = endings.filter(ending => !ending.own).map(({ exit, kind }) => `${exit} ${kind}`);
  const also = hang('  ', `Also, as anywhere: ${others.join(', ')}. See cardwright help exit-codes.`);
  return `${line('0', 'done')}${own.join('')}${program}${also}`;
}

function section(heading: string, lines: string): string {
  return lines === '' ? '' : `${heading}\n${lines}`;
}

/** Cells of an option beside what it means; a longer one has a line of its own. */
const TERM = 28;

function optionRow(term: string, means: string): string {
  const fits = term.length < TERM;
  return fits ? hang(`  ${term.padEnd(TERM)}`, means) : `  ${term}\n${hang(' '.repeat(TERM + 2), means)}`;
}

export function globalRows(options: readonly GlobalOption[]): string {
  return options
    .map(({ name, short, value, means, env }) => {
      const lead = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`;
      return optionRow(lead, env === undefined ? means : `${means} (${env})`);
    })
    .join('');
}

export async function everyPage(registry: Registry): Promise<string> {
  const nowhere = { group: undefined, declared: undefined, words: [] };
  const start = pageHead('start', '') + startText(registry);
  const pages = [start, pageHead('group', '') + (await helpText(nowhere, registry))];
  for (const group of registry) {
    const leaves = await group.leaves();
    const ways = Object.keys(leaves).map(path => path.split(' '));
    const places = new Set(ways.flatMap(way => way.map((_, length) => way.slice(0, length + 1).join(' '))));
    for (const place of places) {
      const declared = await leaves[place]?.();
      const located = { group, declared, words: place.split(' ') };
      pages.push(pageHead(declared === undefined ? 'group' : 'command', place) + (await helpText(located, registry)));
    }
  }
  return pages.join('');
}
