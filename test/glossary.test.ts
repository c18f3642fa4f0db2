/**
 * One word, one meaning: exported names and files keep to the words of docs/design/glossary.md, and so do sentences that
 * people read: pages, help and messages.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const GLOSSARY = 'docs/design/glossary.md';
const text = (name: string) => readFileSync(join(root, name), 'utf8');
const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name));

const sources = below('src').filter(name => name.endsWith('.ts'));
/** What people read; decisions, and pages that are generated, too. */
const pages = [
  ...['docs', 'examples', 'skills', '.github'].flatMap(below).filter(name => name.endsWith('.md') && name !== GLOSSARY),
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'src/README.md', 'test/README.md', 'llms.txt'],
];

/** First cells of the rows under a heading, without the note in parentheses; a cell may have several words. */
function firstCells(heading: string): readonly string[] {
  const [, section = ''] = text(GLOSSARY).split(`## ${heading}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \|/gm)]
    .map(([, cell = '']) => cell)
    .slice(1)
    .filter(cell => !cell.startsWith('---'));
}

const withoutNote = (cell: string) =>
  cell
    .replace(/\([^)]*\)/g, '')
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '');

/**
 * Names in which a word to avoid has another meaning, that of the first table or an ordinary one. A name that is not
 * used any more does not stay here.
 */
const OTHER_MEANING: Readonly<Record<string, readonly string[]>> = {
  // The audit log is what the word means.
  audit: ['*'],
  // The proof that the money of the account adds up.
  books: ['books'],
  // A hold of a card; and the verb, of what a text contains.
  holds: ['HOLDS_SECRET', 'holdsKeyOrSecret', 'holdsNone', 'holdsName', 'openHolds', 'allHolds', 'holds.ts'],
  // Rows in flight: sent, and not answered yet.
  flight: ['InFlightLimiter', 'InFlightRow', 'InFlightLimits', 'createInFlightLimiter', 'in-flight-limiter.ts'],
  // A key that is young enough to be remembered.
  fresh: ['keyIsFresh'],
  // A settlement of the sandbox.
  settle: ['settle', 'simulateSettle', 'settle.ts'],
  // Of events that the books know, and of what this machine knows: not ids.
  known: ['isKnownType', 'KnownState', 'KnownStates', 'knownStatesIn', 'KnownOption', 'isLifeKnown', 'known-states.ts'],
  // The result of a reconcile.
  verdict: ['Verdict'],
};

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/\.ts$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .map(word => word.toLowerCase());
}

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

interface Named {
  readonly name: string;
  readonly file: string;
}

const exported: readonly Named[] = sources.flatMap(file =>
  [...text(file).matchAll(EXPORTED)].map(([, name = '']) => ({ name, file })),
);
const paths: readonly Named[] = sources.flatMap(file => file.split('/').map(name => ({ name, file })));

function avoided({ name }: Named, words: readonly string[]): string | undefined {
  return wordsOf(name).find(word => {
    const meant = OTHER_MEANING[word] ?? [];
    return words.includes(word) && !meant.includes('*') && !meant.includes(name);
  });
}

/** The texts of a source file that may be shown: longer ones in quotes, with the lines they stand in. */
function sentencesIn(file: string): readonly string[] {
  const code = text(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/'((?:[^'\\\n]|\\.){12,})'|`((?:[^`\\]|\\.){12,})`/g)]
    .map(([, quoted, template = '']) => quoted ?? template.replace(/\$\{[^}]*\}/g, '…'))
    .filter(found => found.includes(' ') && !found.includes('\n'));
}

describe('the glossary', () => {
  it('has its terms in order, each once, and none of them among the words to avoid', () => {
    const terms = firstCells('Terms');
    expect(terms.length).toBeGreaterThan(80);
    expect(terms).toEqual([...new Set(terms)]);
    const sorted = terms.toSorted((a, b) => a.localeCompare(b, 'en'));
    expect(terms).toEqual(sorted);
    const pure = firstCells('Words to avoid').filter(cell => !cell.includes('('));
    expect(pure.flatMap(withoutNote).filter(word => terms.includes(word))).toEqual([]);
  });

  it('is kept by the names of files and by exported names', () => {
    const words = firstCells('Words to avoid').flatMap(withoutNote);
    const wrong = [...exported, ...paths].flatMap(each => {
      const word = avoided(each, words);
      return word === undefined ? [] : [`${each.file}: ${each.name} has "${word}"`];
    });
    expect(wrong).toEqual([]);
    const names = new Set([...exported, ...paths].map(({ name }) => name));
    const gone = Object.values(OTHER_MEANING)
      .flat()
      .filter(name => name !== '*' && !names.has(name));
    expect(gone).toEqual([]);
  });

  it('is kept by pages, help and messages', () => {
    const phrases = firstCells('Phrases to avoid').flatMap(withoutNote);
    expect(phrases.length).toBeGreaterThan(10);
    const wrong = new RegExp(`\\b(?:${phrases.join('|').replaceAll(' ', '\\s+')})\\b`, 'i');
    const plain = (page: string) => text(page).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
    const found = [
      ...pages.map(page => [page, wrong.exec(plain(page))?.[0]] as const),
      ...sources.flatMap(file => sentencesIn(file).map(each => [`${file}: ${each}`, wrong.exec(each)?.[0]] as const)),
    ];
    expect(found.filter(([, phrase]) => phrase !== undefined)).toEqual([]);
  });
});
