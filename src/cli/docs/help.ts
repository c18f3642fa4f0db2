/** Pages of help as text, wrapped for a terminal. */
import { fold, ROUGHLY } from '../../terminal/fold.ts';
import { type Command, commandsOf, type Registry } from '../parsing/command.ts';
import { GLOBALS, type GlobalOption } from '../parsing/globals.ts';
import type { Located } from '../parsing/tree.ts';
import { pageHead } from './kept-pages.ts';
import { pageOf, type TermRows } from './page.ts';

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
  const [first = '', ...rest] = breakable(line);
  const lines = [lead + first];
  for (const part of rest) {
    const last = lines.at(-1) ?? '';
    // Two columns stay free for the backslash.
    if (last.length + 1 + part.length <= WIDTH - 2) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`${' '.repeat(lead.length + 2)}${part}`);
  }
  return `${lines.join(' \\\n')}\n`;
}

/** Where a line may be broken: before an option or a redirection, so that no quoted text is torn. */
function breakable(line: string): string[] {
  return line.split(/ (?=--?[a-z]|[<>|] )/);
}

/** Help of the root, of a group or of a command, by where the words led. */
export async function helpText({ group, command, words }: Located, registry: Registry): Promise<string> {
  if (group === undefined) return rootHelp(registry);
  const path = words.join(' ');
  const below = (await commandsOf(group)).filter(each => each.path.startsWith(`${path} `));
  if (command === undefined) return groupHelp(words.length === 1 ? `${path}: ${group.summary}` : path, path, below);
  const page = commandHelp(command);
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
  const shown = (GLOBALS as readonly GlobalOption[]).filter(option => option.shown);
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

export function commandHelp(command: Command): string {
  const page = pageOf(command);
  const rows = (terms: TermRows) => terms.map(({ term, means }) => optionRow(term, means)).join('');
  // The shape of the answer in a line or two; the types are told by `schema`.
  const types = page.typed ? `  Types: cardwright schema ${page.path}\n` : '';
  const exits = page.exits.map(({ exit, kind, means }) => {
    const code = `  ${exit.padStart(2)}  `;
    return exit === '0' ? `${code}done\n` : hang(code, `${kind}: ${means}`);
  });
  const examples = page.examples.map(({ does, run }) => hang('  # ', does) + wrapCommand('  $ ', `cardwright ${run}`));
  const parts = [
    `${page.summary}.\n`,
    page.usage.map((line, index) => hang(index === 0 ? 'Usage: ' : '       ', line)).join(''),
    ...page.about.map(paragraph => wrap(paragraph)),
    section('Arguments', rows(page.args)),
    section('Options', rows(page.options)),
    section(page.terms?.title ?? '', rows(page.terms?.rows ?? [])),
    wrap(`Effect: ${page.effect}`),
    section('JSON', page.json.map(line => hang('  ', line)).join('') + types),
    section('Exit codes', exits.join('') + hang('  ', page.otherExits)),
    section('Examples', examples.join('')),
    'Options of every command: cardwright help options\n',
  ];
  return parts.filter(part => part !== '').join('\n');
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
  const nowhere = { group: undefined, command: undefined, words: [] };
  const start = pageHead('start', '') + startText(registry);
  const pages = [start, pageHead('group', '') + (await helpText(nowhere, registry))];
  for (const group of registry) {
    const leaves = await group.leaves();
    const paths = Object.keys(leaves);
    const ways = paths.map(path => path.split(' '));
    const places = new Set(ways.flatMap(way => way.map((_, length) => way.slice(0, length + 1).join(' '))));
    for (const place of places) {
      const command = paths.includes(place) ? await leaves[place]?.() : undefined;
      const located = { group, command, words: place.split(' ') };
      pages.push(pageHead(command === undefined ? 'group' : 'command', place) + (await helpText(located, registry)));
    }
  }
  return pages.join('');
}
