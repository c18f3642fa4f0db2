import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readsCommands, withoutCommands } from '../../src/terminal/ci-commands.ts';
import { world } from '../support/world.ts';

/** What GitHub, Azure and TeamCity would take for a command. */
const ACTS = /^\s*::|##\[|##vso\[|##teamcity\[/im;

const pieces = fc.constantFrom('::', ':', '##', '#', '[', 'vso[', 'TeamCity[', '\n', '\r', ' ', '\t', 'a', '"', '\\');
const texts = fc.array(pieces, { maxLength: 12 }).map(parts => parts.join(''));

describe('text in the log of a CI job', () => {
  test('holds no command, whatever it was made of', () => {
    let acting = 0;
    fc.assert(
      fc.property(texts, text => {
        if (ACTS.test(text)) acting += 1;
        expect(withoutCommands(text)).not.toMatch(ACTS);
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

  test('is left alone elsewhere', () => {
    expect(readsCommands({ CI: '', PATH: '/bin' })).toBe(false);
    for (const name of ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION']) {
      expect(readsCommands({ [name]: 'true' })).toBe(true);
    }
    for (const text of ['a::b', '[::1]:80', '# ##', '#[x]']) expect(withoutCommands(text)).toBe(text);
  });
});

test.each(['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv', 'env'])('labels in -o %s command no job', async format => {
  await using here = await world();
  const label = '::add-mask::x ##[group]y ##vso[task.setvariable]z';
  await here.run(`cards create --bin bin_1 --amount 5 --label '${label}'`);
  const line = `cards get card_1 -o ${format} --fields label`;
  const plain = await here.run(line);
  expect(plain.out).toMatch(/##\[/);
  const ran = await here.run(line, { env: { CI: 'true' } });
  expect(ran.out).not.toMatch(ACTS);
  expect(ran.out).toContain('add-mask');
  if (format === 'json') expect(JSON.parse(ran.out)).toEqual({ label });
  const refused = await here.run(`cards get '${label}'`, { env: { TF_BUILD: 'True' } });
  expect(`${refused.out}${refused.err}`).not.toMatch(ACTS);
});
