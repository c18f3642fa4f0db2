/** Commands that the source tells to run, wherever they stand: each must be taken by the parser as it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorWithRepeated, repeatedOptions, SPEAK_TO_A_SERVICE, withRepeated } from '../../src/cli/repeated.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { CliError } from '../../src/core/errors.ts';
import { problemOf } from '../support/copied-hints.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'src');

/** What stands for a value that is put into a hint: an id or a name of ours where the parser looks at it. */
const VALUES: readonly (readonly [RegExp, string])[] = [
  [/^\$\{named/, '--sandbox'],
  [/op\b|\.op|first|name\b/, 'op_00000000000000000000000001'],
  [/rowWords/, '3..7'],
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

describe('options that say whom a run spoke to', () => {
  const options = ['--sandbox'];

  it('go into the commands of the evidence, and into nothing else of it', () => {
    const evidence = { label: 'cardwright cards list', look: 'cardwright ops resume op_1 --dry-run', checks: 2 };
    expect(
      errorWithRepeated(new CliError('outcome_unknown', { message: '', evidence }), {
        argv: [],
        repeated: options,
        canAsk: true,
      }).facts.evidence,
    ).toEqual({
      ...evidence,
      look: 'cardwright --sandbox ops resume op_1 --dry-run',
    });
  });

  it('go into commands of every group that asks a service, and into no sentence', () => {
    for (const group of SPEAK_TO_A_SERVICE) {
      expect(withRepeated(`try cardwright ${group} list`, options)).toBe(`try cardwright --sandbox ${group} list`);
    }
    for (const text of [
      'the metadata key cardwright is taken: it marks which operation made a card',
      'cardwright sandbox start',
      'cardwright waits for a while',
      'cardwright --sandbox cards list',
    ]) {
      expect(withRepeated(text, options)).toBe(text);
    }
  });

  it('name the journal of this run, but for a command that names one itself or is about the other one', () => {
    const local = repeatedOptions({ profile: 'team', journal: 'local' });
    expect(local).toEqual(['-p', 'team', '--journal', 'local']);
    for (const [written, told] of [
      ['cardwright ops resume op_1', 'cardwright -p team --journal local ops resume op_1'],
      ['cardwright ops show op_1 --journal local', 'cardwright -p team ops show op_1 --journal local'],
      ['cardwright journal move --to shared', 'cardwright -p team journal move --to shared'],
      ['cardwright sandbox reset --yes', 'cardwright -p team sandbox reset --yes'],
    ] as const)
      expect(withRepeated(written, local)).toBe(told);
    const shared = repeatedOptions({ journal: 'postgres://ana@db/journal' });
    expect(withRepeated('cardwright journal push', shared)).toBe(
      'cardwright --journal postgres://ana@db/journal journal push',
    );
  });

  it('know every group: it asks a service, or it does not', () => {
    const others = 'help completion explain commands schema profiles login logout audit agent'.split(' ');
    expect([...SPEAK_TO_A_SERVICE, ...others].sort()).toEqual(REGISTRY.map(({ name }) => name).sort());
  });
});
