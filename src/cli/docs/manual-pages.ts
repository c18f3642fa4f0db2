/** The manual pages in mdoc(7): one of the program, one a group. Their text is that of help, as it stands. */

import { GLOBALS } from '../../app/globals.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { commandsOf, type Registry } from '../parsing/declaration.ts';
import { ENVIRONMENT } from './environment.ts';
import { commandHelp, globalRows, hang, rootHelp } from './help.ts';

/** Of the last change to what these pages promise; a date of the build would make each build differ. */
const DATE = 'November 29, 2026';

/** Text of each page by its file name, `cardwright-cards.1`. */
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
