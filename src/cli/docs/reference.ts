/** The reference, and the pages for agents. */
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { type Command, commandsOf, type Registry } from '../parsing/command.ts';
import { flagsOf } from '../parsing/globals.ts';
import { type Page, pageOf, type TermRows } from './page.ts';

/** Text of each page by its file name, `cards.md`, and an index. */
export async function referencePages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const index: string[] = [];
  for (const group of registry) {
    const commands = await commandsOf(group);
    const { name, summary } = group;
    const parts = commands.map(command => commandPart(pageOf(command))).join('\n');
    pages.set(`${name}.md`, `# cardwright ${name}\n\n${plain(summary)}\n\n${parts}`);
    index.push(`- [${name}](${name}.md): ${summary}`);
  }
  pages.set('sandbox-methods.md', methodsPage());
  index.push('- [methods of the sandbox](sandbox-methods.md): in a program, `startSandbox()`');
  return pages.set('README.md', indexPage(index, await commandTable(registry)));
}

function indexPage(groups: readonly string[], commands: string): string {
  return `# Reference

Generated from the declarations of the commands (\`npm run generate\`). \`cardwright <command> --help\` prints the same text.

${groups.join('\n')}

## Commands

${commands}

## Exit codes

${exitCodeTable()}

A script may repeat a command that ended with ${REPEATABLE.join(' or ')}. After ${ERROR_KINDS.outcome_unknown.exit} it must first find out what happened.
`;
}

function commandPart(page: Page): string {
  const { path, summary, usage, about, args, options, terms, effect, json, typed, exits, otherExits, examples } = page;
  const exitRows = exits.map(({ exit, kind, means }) => `| ${exit} | ${kind} | ${plain(means)} |`);
  const runs = examples.map(({ does, run }) => `# ${does}\ncardwright ${run}`);
  const parts = [
    `## ${path}`,
    `${plain(summary)}.`,
    block('text', usage),
    ...about.map(plain),
    ...termTable('argument', args),
    ...termTable('option', options),
    ...termTable(terms?.title.toLowerCase() ?? '', terms?.rows ?? []),
    `**Effect:** ${plain(effect)}`,
    `**JSON**${typed ? `, typed by \`cardwright schema ${path}\`` : ''}:`,
    block('text', json),
    table(['exit', 'kind', 'means'], exitRows),
    plain(otherExits),
    block('sh', runs),
  ];
  return `${parts.join('\n\n')}\n`;
}

function table(heads: readonly string[], rows: readonly string[]): string {
  return [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
}

/** None where there are no terms. */
function termTable(head: string, rows: TermRows): readonly string[] {
  const lines = rows.map(({ term, means }) => `| ${code(term)} | ${plain(means)} |`);
  return lines.length === 0 ? [] : [table([head, 'means'], lines)];
}

function block(language: string, lines: readonly string[]): string {
  return `\`\`\`${language}\n${lines.join('\n')}\n\`\`\``;
}

/** Text in which `<card>` stays what it is. */
function plain(text: string): string {
  return text.replace(/[<>*_|`]/g, character => `\\${character}`);
}

/** Inside a table a bar ends the cell, in code too. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** Markdown table of every command: what it is typed as, what it does, the operation behind it. */
async function commandTable(registry: Registry): Promise<string> {
  const commands = (await Promise.all(registry.map(commandsOf))).flat();
  const rows = commands.map(command => `| \`${usage(command)}\` | ${command.summary} | ${command.operation ?? ''} |`);
  return ['| command | what it does | operation |', '|---|---|---|', ...rows].join('\n');
}

function usage(command: Command): string {
  const args = Object.entries(command.args).map(([name, { many }]) => (many ? `<${name}...>` : `<${name}>`));
  const needed = flagsOf(command).filter(flag => flag.needed);
  // A bar inside a table cell must be escaped to stay one cell.
  const flags = needed.map(({ name, placeholder }) => `${name} ${placeholder}`.trim().replaceAll('|', '\\|'));
  return [command.path, ...args, ...flags].join(' ');
}

/** Markdown table of exit codes, kinds and what they mean. */
function exitCodeTable(): string {
  const rows = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => `| ${exit} | \`${kind}\` | ${means} |`);
  return ['| code | kind | meaning |', '|---|---|---|', '| 0 | | Done, also an empty list. |', ...rows].join('\n');
}

/** Exit codes after which a script may run the same command again without looking first. */
const REPEATABLE: readonly number[] = Object.values(ERROR_KINDS)
  .filter(kind => 'retryable' in kind)
  .map(({ exit }) => exit);

const PURPOSE =
  'Issue, fund, freeze, terminate and watch virtual cards from a terminal, a script or CI, with the whole service inside as an offline sandbox.';

/** `llms.txt`: what this is, and where each command is documented. */
export async function llmsText(registry: Registry): Promise<string> {
  const lines = await Promise.all(
    registry.map(async group => {
      const commands = await commandsOf(group);
      const paths = commands.map(({ path }) => `\`${path}\``).join(', ');
      return `- [${group.name}](docs/reference/${group.name}.md): ${group.summary}. ${paths}`;
    }),
  );
  return `# cardwright

> ${PURPOSE}

Without a network or a key every command works with \`--sandbox\`. Answers are JSON with \`--json\`; \`cardwright
commands --json\` is the tree of commands, \`cardwright schema <command>\` the shape of an answer, \`cardwright explain
<exit code>\` what to do next.

## Commands

${lines.join('\n')}

## More

- [README](README.md): what it is, installing, the first card
- [Guides](docs/guide/README.md): one page a task
- [SECURITY](SECURITY.md): what is promised about keys and card numbers, and what cannot be
`;
}

/** A row for each method, in the order of the contract's rows. */
function methodsPage(): string {
  const groups = [...adminMethodsByGroup()].filter(([group]) => group !== undefined);
  const methods = [...groups.flatMap(([, each]) => each), ...(adminMethodsByGroup().get(undefined) ?? [])];
  const table = ['| method of `sandbox` | what it does |', '|---|---|', ...methods.map(rowOf)].join('\n');
  return `# Methods of the sandbox\n\n\`?\` marks what may be left out. The types of the package say what each member means, with its values and defaults.\n\n${table}\n`;
}

function rowOf({ group, name, row }: AdminMethod): string {
  const { params, query, body } = row;
  const fields = Object.entries({ ...params, ...query, ...body });
  const names = fields.map(([field, { must }]) => (must ? field : `${field}?`));
  const input = names.length === 0 ? '' : `{ ${names.join(', ')} }`;
  return `| \`${group === undefined ? name : `${group}.${name}`}(${input})\` | ${row.summary} |`;
}
