import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hang, wrap, wrapCommand } from '../../src/cli/docs/help.ts';

const word = fc.stringMatching(/^[a-z]{1,12}$/);
const text = fc.array(word, { minLength: 1, maxLength: 60 }).map(words => words.join(' '));
const rows = (page: string) => page.split('\n').slice(0, -1);

describe('pages of 80 columns', () => {
  it('keep every word, in order, below the end of the lead', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 40 }), (words, indent) => {
        const lead = 'x'.repeat(indent);
        const lines = rows(hang(lead, words));
        expect(lines.every(line => line.length <= 80)).toBe(true);
        expect(lines.map(line => line.slice(indent)).join(' ')).toBe(words);
        expect(lines.slice(1).every(line => line.startsWith(' '.repeat(indent)))).toBe(true);
      }),
    );
    expect(wrap('one two')).toBe('one two\n');
  });

  it('continue a command with backslashes, so that it can be copied', () => {
    const option = fc.tuple(word, word).map(([name, value]) => `--${name} "${value} ${value}"`);
    fc.assert(
      fc.property(fc.array(option, { maxLength: 20 }), options => {
        const line = ['cardwright cards list', ...options].join(' ');
        const lines = rows(wrapCommand('  $ ', line));
        expect(lines.every(each => each.length <= 80)).toBe(true);
        expect(lines.join('\n').replace(/ \\\n */g, ' ')).toBe(`  $ ${line}`);
      }),
    );
    const long = 'a'.repeat(75);
    expect(wrapCommand('$ ', `${long} > file`)).toBe(`$ ${long} \\\n    > file\n`);
  });
});
