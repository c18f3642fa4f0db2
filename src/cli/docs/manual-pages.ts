/** The manual pages in mdoc(7): one of the program, one a group, from the same data as help. */
import { ERROR_KINDS } from '../../core/errors.ts';
import { fold, ROUGHLY } from '../../terminal/fold.ts';
import { type Command, commandsOf, type Group, type Registry } from '../parsing/command.ts';
import { GLOBALS, type GlobalOption } from '../parsing/globals.ts';
import { ENVIRONMENT } from './environment.ts';
import { type Page, pageOf } from './page.ts';

/** Of the last change to what these pages promise; a date of the build would make each build differ. */
const DATE = 'November 21, 2026';

/** Text of each page by its file name, `cardwright-cards.1`. */
export async function manualPages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const pages = new Map([['cardwright.1', programPage(registry)]]);
  for (const group of registry) {
    const commands = await commandsOf(group);
    pages.set(`cardwright-${group.name}.1`, groupPage(group, commands));
  }
  return pages;
}

function programPage(registry: Registry): string {
  const options = (GLOBALS as readonly GlobalOption[]).map(({ name, short, value, means }) => ({
    term: `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
    means,
  }));
  const exits = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => ({ exit: `${exit}`, kind, means }));
  return [
    head('cardwright', 'issue, fund, freeze and watch virtual cards'),
    '.Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options',
    '.Sh DESCRIPTION',
    text(
      'A command line for people, scripts and CI that run virtual cards, with the whole service inside as an offline sandbox.',
    ),
    'The commands are:',
    tagged(registry.map(({ name, summary }) => ({ term: name, means: `${summary}. See cardwright-${name}(1).` }))),
    '.Sh OPTIONS\nEvery command takes these, before or after its words:',
    tagged(options),
    '.Sh ENVIRONMENT',
    tagged(ENVIRONMENT.map(({ name, means }) => ({ term: name, means }))),
    '.Sh EXIT STATUS',
    tagged([{ term: '0', means: 'Done; also an empty list.' }, ...exits.map(exitTerm)]),
    '.Sh SEE ALSO',
    seeAlso(registry.map(({ name }) => `cardwright-${name}`)),
  ].join('\n');
}

function groupPage({ name, summary }: Group, commands: readonly Command[]): string {
  return [
    head(`cardwright-${name}`, summary),
    `.Sh SYNOPSIS\n.Nm cardwright\n.Cm ${name}\n.Ar command\n.Op Ar options`,
    '.Sh DESCRIPTION',
    ...commands.map(command => commandPart(pageOf(command))),
    '.Sh SEE ALSO',
    seeAlso(['cardwright']),
  ].join('\n');
}

function commandPart(page: Page): string {
  const { path, summary, usage, about, args, options, terms, effect, json, exits, otherExits, examples } = page;
  const runs = examples.flatMap(({ does, run }) => [`# ${does}`, `$ cardwright ${run}`]);
  return [
    `.Ss ${path}`,
    text(`${summary}.`),
    literal(usage),
    ...about.flatMap(paragraph => ['.Pp', text(paragraph)]),
    ...(args.length === 0 ? [] : ['.Pp\nArguments:', tagged(args)]),
    ...(options.length === 0 ? [] : ['.Pp\nOptions:', tagged(options)]),
    ...(terms === undefined ? [] : [`.Pp\n${terms.title}:`, tagged(terms.rows)]),
    '.Pp',
    text(`Effect: ${effect}`),
    '.Pp\nJSON:',
    literal(json),
    '.Pp\nExit codes:',
    tagged(exits.map(exitTerm)),
    '.Pp',
    text(otherExits),
    '.Pp\nExamples:',
    literal(runs),
  ].join('\n');
}

function exitTerm({ exit, kind, means }: Page['exits'][number]) {
  return { term: `${exit} ${kind}`, means };
}

function head(name: string, summary: string): string {
  return `.Dd ${DATE}\n.Dt ${name.toUpperCase()} 1\n.Os\n.Sh NAME\n.Nm ${name}\n.Nd ${inline(summary)}`;
}

function seeAlso(names: readonly string[]): string {
  const sorted = names.toSorted();
  return `${sorted.map((name, index) => `.Xr ${name} 1${index < sorted.length - 1 ? ' ,' : ''}`).join('\n')}\n`;
}

function tagged(rows: readonly { readonly term: string; readonly means: string }[]): string {
  // `No` keeps words that are names of macros from being taken for one.
  const items = rows.map(({ term, means }) => `.It No ${argument(term)}\n${text(means)}`);
  return `.Bl -tag -width Ds\n${items.join('\n')}\n.El`;
}

function literal(lines: readonly string[]): string {
  return `.Bd -literal -offset indent\n${lines.map(guarded).join('\n')}\n.Ed`;
}

/** Prose, a sentence a line, as manual pages are written. */
function text(words: string): string {
  const sentences = words.split(/(?<=[.:;?!]) (?=[A-Z-])/);
  return sentences
    .flatMap(sentence => fold(sentence, { cells: 78, indent: 0, measure: ROUGHLY }))
    .map(guarded)
    .join('\n');
}

/** A line of text: no request at its start, no escape in it, nothing but ASCII. */
function guarded(line: string): string {
  const safe = inline(line);
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}

function inline(line: string): string {
  return line
    .replaceAll('\\', '\\e')
    .replace(
      /[^\x20-\x7e]/gu,
      character => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

/** One argument of a macro, whatever stands in it. */
function argument(words: string): string {
  return `"${inline(words).replaceAll('"', '\\(dq').replaceAll('-', '\\-')}"`;
}
