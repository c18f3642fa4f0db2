/**
 * Texts that the build keeps. Help pages are all in one file, so that help needs neither the commands nor the contract. A
 * program without that file makes the page, and so does every line that is more than words and one wish for help.
 */
import { readFileSync } from 'node:fs';

declare const BUNDLED_FILE: ((name: string) => Uint8Array) | undefined;

/** The file of the build; `everyPage` of help.ts says what stands in it. */
const FILE = 'pages.txt';
/** `start` is what the program shows that is run without a word. */
type PageKind = 'start' | 'group' | 'command';

/** Stands before each page. A form feed is in no page and a line break in no name. */
export function pageHead(kind: PageKind, path: string): string {
  return `\f${kind} ${path}\n`;
}

/** The page a line asks for: `cards fund --help`, `help cards fund`, or a group alone. */
export function keptPage(argv: readonly string[]): string | undefined {
  const asked = wordsOf(argv);
  if (asked === undefined || typeof BUNDLED_FILE === 'undefined') return undefined;
  const pages = Buffer.from(BUNDLED_FILE(FILE));
  const path = asked.words.join(' ');
  if (path === '' && !asked.help) return pageAt(pages, 'start', '');
  return pageAt(pages, 'group', path) ?? (asked.help ? pageAt(pages, 'command', path) : undefined);
}

function wordsOf(argv: readonly string[]): { readonly words: readonly string[]; readonly help: boolean } | undefined {
  const options = argv.at(-1) === '--help' || argv.at(-1) === '-h';
  const rest = options ? argv.slice(0, -1) : argv;
  if (rest.some(word => !/^[a-z0-9][a-z0-9-]*$/.test(word))) return undefined;
  const named = rest[0] === 'help' && !options;
  return { words: named ? rest.slice(1) : rest, help: options || named };
}

function pageAt(pages: Buffer, kind: PageKind, path: string): string | undefined {
  const head = pageHead(kind, path);
  const at = pages.indexOf(head);
  if (at < 0) return undefined;
  const end = pages.indexOf('\f', at + 1);
  return pages.toString('utf8', at + Buffer.byteLength(head), end < 0 ? pages.length : end);
}

/** Text of a file of this repository that the program hands out as it is: of `completions/` or `skills/`. */
export function shippedText(path: string): string {
  if (typeof BUNDLED_FILE === 'undefined') return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  return (JSON.parse(Buffer.from(BUNDLED_FILE('texts.json')).toString()) as Record<string, string>)[path] ?? '';
}
