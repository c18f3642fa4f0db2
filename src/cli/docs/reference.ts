/** Pages written from the declarations: the reference, the manual, `llms.txt`, parts of the skill. The text of a command is that of its help, as it stands. */
import { GLOBALS } from '../../app/globals.ts';
import type { Effect } from '../../contract/operation.ts';
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { commandsOf, type Registry } from '../parsing/declaration.ts';
import { ENVIRONMENT } from './environment.ts';
import { commandHelp, globalRows, hang, rootHelp } from './help.ts';

/** Text of each page of the reference by its file name, `cards.md`, and an index. */
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

/** `llms.txt`: what this is, and where each command is documented. */
export async function llmsText(registry: Registry): Promise<string> {
  return `# cardwright

> Issue, fund, freeze, terminate and watch virtual cards from a terminal, a script or CI, with the whole service inside as an offline sandbox.

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

/** What a program that drives this one must know of a command before it runs it. */
const BY_EFFECT: Partial<Readonly<Record<Effect, string>>> = {
  'moves-money': 'Moves money',
  'reveals-secret': 'Hands out card data',
  irreversible: 'Cannot be undone',
  reversible: 'Changes state, and moves no money',
};

/** The first page of the skill with its lists made anew: commands by their effect, and exit codes. */
export async function skillText(registry: Registry, page: string): Promise<string> {
  const commands = (await Promise.all(registry.map(commandsOf))).flat();
  // What the sandbox does to itself counts for nothing.
  const counted = commands.filter(({ path }) => !path.startsWith('sandbox '));
  const effects = Object.entries(BY_EFFECT).map(([of, says]) => {
    const paths = counted.filter(({ effect }) => effect === of).map(({ path }) => `\`${path}\``);
    return `- **${says}**: ${paths.join(', ')}\n`;
  });
  const exits = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => `| ${exit} | ${kind} | ${means} |\n`);
  return page
    .replace(/(?:^- \*\*[^*]+\*\*: `.*\n)+(?=\n## How it ends)/m, () => effects.join(''))
    .replace(/(?<=^\| 0 \| done .*\n)(?:^\|.*\n)*/m, () => exits.join(''));
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

/** Of the last change to what these pages promise; a date of the build would make each build differ. */
const DATE = 'November 29, 2026';

/** Text of each manual page in mdoc(7) by its file name, `cardwright-cards.1`: one of the program, one a group. */
export async function manualPages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const name = 'cardwright';
  const variables = ENVIRONMENT.map(each => hang(`${each.name.padEnd(30)}  `, each.means));
  const exits = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) =>
    hang(`${exit}`.padEnd(5), `${kind}: ${means}`),
  );
  const pages = new Map([
    [
      `${name}.1`,
      page(
        name,
        'issue, fund, freeze and watch virtual cards',
        registry.map(group => `${name}-${group.name}`),
        [
          ['.Sh DESCRIPTION', rootHelp(registry)],
          ['.Sh OPTIONS', globalRows(GLOBALS)],
          ['.Sh ENVIRONMENT', variables.join('')],
          ['.Sh EXIT STATUS', `0    Done; also an empty list.\n${exits.join('')}`],
        ],
      ),
    ],
  ]);
  for (const group of registry) {
    const commands = await commandsOf(group);
    const parts = commands.map(command => [`.Ss ${command.path}`, commandHelp(command)] as const);
    const text = page(`${name}-${group.name}`, group.summary, [name], [['.Sh DESCRIPTION', ''], ...parts]);
    pages.set(`${name}-${group.name}.1`, text);
  }
  return pages;
}

type Part = readonly [heading: string, text: string];

function page(name: string, summary: string, also: readonly string[], parts: readonly Part[]): string {
  const others = also.toSorted().map((each, at) => `.Xr ${each} 1${at < also.length - 1 ? ' ,' : ''}`);
  return `${[
    `.Dd ${DATE}\n.Dt ${name.toUpperCase()} 1\n.Os\n.Sh NAME\n.Nm ${name}\n.Nd ${inline(summary)}`,
    ...parts.flatMap(([heading, text]) => [heading, ...(text === '' ? [] : [literal(text)])]),
    '.Sh SEE ALSO',
    ...others,
  ].join('\n')}\n`;
}

/** Text as it stands: no line is taken for a request. */
function literal(text: string): string {
  const lines = text.trimEnd().split('\n').map(inline);
  return `.Bd -literal\n${lines.map(line => (/^[.']/.test(line) ? `\\&${line}` : line)).join('\n')}\n.Ed`;
}

/** Nothing but ASCII, no escape in it, and a hyphen that can be copied. */
function inline(line: string): string {
  return line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(
      /[^\x20-\x7e]/gu,
      character => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
