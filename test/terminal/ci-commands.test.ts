import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutCommands } from '../../src/terminal/ci-commands.ts';
import { world } from '../support/world.ts';

/** What some log viewer or other ends a line with. */
const LINE_ENDS = ['\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\x85', '\u2028', '\u2029'];
/** What a reader that trims, or compares as people read, passes over at the beginning of a line. */
const PASSED_OVER = [
  ' ',
  '\t',
  '\0',
  '\x1b',
  '\x7f',
  '\x9b',
  '\xa0',
  '\xad',
  '\u180e',
  '\u200b',
  '\u202e',
  '\u3000',
  '\ufeff',
];

/** What GitHub, Azure and TeamCity would take for a command: told line by line, and without the expression under test. */
function acts(text: string): boolean {
  if (['##[', '##vso[', '##teamcity['].some(mark => text.toLowerCase().includes(mark))) return true;
  let begins = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (begins && text.startsWith('::', at)) return true;
    begins = LINE_ENDS.includes(character) || (begins && PASSED_OVER.includes(character));
  }
  return false;
}

const words = ['::', ':', '##', '#', '[', 'vso[', 'TeamCity[', 'a', '"', '\\'];
const pieces = fc.constantFrom(...words, ...words, ...LINE_ENDS, ...PASSED_OVER);
const texts = fc.array(pieces, { maxLength: 12 }).map(parts => parts.join(''));

describe('text in the log of a CI job', () => {
  test('holds no command, whatever it was made of', () => {
    let acting = 0;
    fc.assert(
      fc.property(texts, text => {
        if (acts(text)) acting += 1;
        expect(acts(withoutCommands(text))).toBe(false);
        expect(withoutCommands(withoutCommands(text))).toBe(withoutCommands(text));
      }),
      { numRuns: 5000 },
    );
    expect(acting).toBeGreaterThan(200);
  });

  test('is the same value when it is JSON', () => {
    // JSON.parse of Node 24 and 26 may read a key of one escaped character as a backslash.
    const keys = texts.filter(text => text.length !== 1);
    fc.assert(
      fc.property(fc.dictionary(keys, texts), value => {
        for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
          expect(JSON.parse(withoutCommands(json))).toEqual(value);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

test('labels command no job, in whichever format', async () => {
  await using here = await world();
  const label = '::add-mask::x ##[group]y ##vso[task.setvariable]z';
  await here.run(`cards create --bin bin_1 --amount 5 --label '${label}'`);
  for (const format of ['table', 'json', 'ndjson', 'csv', 'tsv', 'env']) {
    const line = `cards get card_1 -o ${format} --fields label`;
    const plain = await here.run(line);
    expect(plain.out).toMatch(/##\[/);
    const ran = await here.run(line, { env: { CI: 'true' } });
    expect([format, acts(ran.out)]).toEqual([format, false]);
    expect(ran.out).toContain('add-mask');
    if (format === 'json') expect(JSON.parse(ran.out)).toEqual({ label });
  }
  const refused = await here.run(`cards get '${label}'`, { env: { TF_BUILD: 'True' } });
  expect(acts(`${refused.out}${refused.err}`)).toBe(false);
});
