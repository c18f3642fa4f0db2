/** The reference, and the pages for agents. */
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { commandsOf, type Registry } from '../parsing/declaration.ts';
import { commandHelp } from './help.ts';

/** Text of each page by its file name, `cards.md`, and an index. The text of a command is that of its help, as it stands. */
export async function referencePages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const group of registry) {
    const commands = await commandsOf(group);
    const parts = commands.map(command => `## ${command.path}\n\n\`\`\`text\n${commandHelp(command)}\`\`\`\n`);
    pages.set(`${group.name}.md`, `# cardwright ${group.name}\n\n${group.summary}\n\n${parts.join('\n')}`);
  }
  pages.set('sandbox-methods.md', methodsPage());
  return pages.set('README.md', await indexPage(registry));
}

async function indexPage(registry: Registry): Promise<string> {
  const exits = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => `| ${exit} | \`${kind}\` | ${means} |`);
  const repeatable = Object.values(ERROR_KINDS).filter(kind => 'retryable' in kind);
  return `# Reference

Generated from the declarations of the commands (\`npm run generate\`). \`cardwright <command> --help\` prints the same text.

## Commands

${await groupLines(registry, '')}
- [methods of the sandbox](sandbox-methods.md): in a program, \`startSandbox()\`

## Exit codes

| code | kind | meaning |
|---|---|---|
| 0 | | Done, also an empty list. |
${exits.join('\n')}

A script may repeat a command that ended with ${repeatable.map(({ exit }) => exit).join(' or ')}. After ${ERROR_KINDS.outcome_unknown.exit} it must first find out what happened.
`;
}

/** A line for each group, with its commands. */
async function groupLines(registry: Registry, folder: string): Promise<string> {
  const lines = registry.map(async group => {
    const paths = (await commandsOf(group)).map(({ path }) => `\`${path}\``).join(', ');
    return `- [${group.name}](${folder}${group.name}.md): ${group.summary}. ${paths}`;
  });
  return (await Promise.all(lines)).join('\n');
}

const PURPOSE =
  'Issue, fund, freeze, terminate and watch virtual cards from a terminal, a script or CI, with the whole service inside as an offline sandbox.';

/** `llms.txt`: what this is, and where each command is documented. */
export async function llmsText(registry: Registry): Promise<string> {
  return `# cardwright

> ${PURPOSE}

Without a network or a key every command works with \`--sandbox\`. Answers are JSON with \`--json\`; \`cardwright
commands --json\` is the tree of commands, \`cardwright schema <command>\` the shape of an answer, \`cardwright explain
<exit code>\` what to do next.

## Commands

${await groupLines(registry, 'docs/reference/')}

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
