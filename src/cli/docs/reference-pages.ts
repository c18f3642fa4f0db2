/** The reference as Markdown: one page a group, from the same data as help. */
import { ERROR_KINDS } from '../../core/errors.ts';
import { type Command, commandsOf, type Group, type Registry } from '../parsing/command.ts';
import { type Page, pageOf } from './page.ts';
import { commandTable, exitCodeTable, REPEATABLE } from './reference-tables.ts';

/** Text of each page by its file name, `cards.md`, and an index. */
export async function referencePages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const index: string[] = [];
  for (const group of registry) {
    const commands = await commandsOf(group);
    pages.set(`${group.name}.md`, groupPage(group, commands));
    index.push(`- [${group.name}](${group.name}.md): ${group.summary}`);
  }
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

function groupPage({ name, summary }: Group, commands: readonly Command[]): string {
  return `# cardwright ${name}\n\n${plain(summary)}\n\n${commands.map(command => commandPart(pageOf(command))).join('\n')}`;
}

function commandPart(page: Page): string {
  const { path, summary, usage, about, args, options, terms, effect, json, typed, exits, otherExits, examples } = page;
  const optionRows = options.map(({ term, means }) => `| ${code(term)} | ${plain(means)} |`);
  const exitRows = exits.map(({ exit, kind, means }) => `| ${exit} | ${kind} | ${plain(means)} |`);
  const runs = examples.map(({ does, run }) => `# ${does}\ncardwright ${run}`);
  const parts = [
    `## ${path}`,
    `${plain(summary)}.`,
    block('text', usage),
    ...about.map(plain),
    ...(args.length === 0
      ? []
      : [
          table(
            ['argument', 'means'],
            args.map(({ term, means }) => `| ${code(term)} | ${plain(means)} |`),
          ),
        ]),
    ...(options.length === 0 ? [] : [table(['option', 'means'], optionRows)]),
    ...(terms === undefined
      ? []
      : [
          table(
            [terms.title.toLowerCase(), 'means'],
            terms.rows.map(({ term, means }) => `| ${code(term)} | ${plain(means)} |`),
          ),
        ]),
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
