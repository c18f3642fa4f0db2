/** Commands that the source tells to run, wherever they stand: each must be taken by the parser as it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problemOf } from '../support/copied-hints.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'src');

/** What stands for a value that is put into a hint: an id or a name of ours where the parser looks at it. */
const VALUES: readonly (readonly [RegExp, string])[] = [
  [/^\$\{named/, '--sandbox'],
  [/operation/, 'cards fund'],
  [/op\b|\.op|first|name\b/, 'op_00000000000000000000000001'],
  [/rowWords/, '3..7'],
  [/deposit/, '1000'],
  [/amount/, '--amount 25'],
  [/yes/, ' --yes'],
  [/typed/, '--payload body.json --signature ab --secret-file secret'],
  [/wanted/, 'install'],
  [/isStuck/, 'show'],
  [/shell\b/, 'bash'],
  [/schema/, '1'],
];

function filledIn(text: string): string {
  return text.replaceAll(/\$\{([^{}]|\{[^{}]*\})*\}/g, hole => VALUES.find(([about]) => about.test(hole))?.[1] ?? 'x');
}

/** Every `hint:` of the source that is a command, with the file it stands in. */
const HINTS = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .flatMap(name => {
    const text = readFileSync(join(SOURCE, name), 'utf8');
    const found = text.matchAll(/\b(?:hint|command)\b[^\n'`]{0,90}(?:'(cardwright [^']*)'|`(cardwright [^`]*)`)/g);
    return [...found].map(([, plain, template = '']) => [name, plain ?? template] as const);
  });

describe('a command that an error tells to run', () => {
  it('stands in more than a hundred places', () => {
    expect(HINTS.length).toBeGreaterThan(100);
  });

  it.each(HINTS)('%s: %s', async (_, hint) => {
    expect(await problemOf(filledIn(hint), [])).toBeUndefined();
  });
});
