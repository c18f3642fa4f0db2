/** The fast reader of plain YAML: the tree of the library, place by place, or nothing. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPlainYaml } from '../../src/terminal/yaml-lines.ts';
import { readYaml } from '../../src/terminal/yaml-text.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');

/** True where both were read; throws where they differ. */
function agrees(text: string): boolean {
  const plain = readPlainYaml(text);
  if (plain === undefined) return false;
  expect({ faults: [], root: plain }).toEqual(readYaml(text, { uniqueKeys: false }));
  return true;
}

test('takes a fleet as people write it', async () => {
  expect(agrees(await readFile(join(examples, 'fleet', 'cards.fleet.yaml'), 'utf8'))).toBe(true);
});

test.each([
  'a:\n',
  'a:\nb: 1',
  'a:   # none yet\n  # below\nb: {}\n',
  'a:\n  b:\n    c: [x, "y z", 7311, []]\n  d: {e: {f: null}}   # end\n',
  'a: "é # {x}"\nb: \'"\'\nc: true\nd: ~x\n',
  'a: 0123\nb: 1.50\nc: 2026-11-22\nd: 30d\ne: a b  c\n',
  '# only\n\na: 1\n   \na: 2\n',
])('%j', text => {
  agrees(text);
});

test.each([
  'a: x\n  y\n',
  'a: *b\n',
  '- a\n',
  'a: |\n  x\n',
  '---\na: 1\n',
  'a: "\\n"\n',
  "a: 'it''s'\n",
  'a: 1e3\n',
  'a: 0x10\n',
  'a: 1_000\n',
  'a: {b: 1,}\n',
  'a: {b}\n',
  'a: [b: c]\n',
  'a: b: c\n',
  'a:b\n',
  'true: 1\n',
  '"a": 1\n',
  'a: !x b\n',
  'a: 1\n  b: 2\n',
  '\ta: 1\n',
  'a: [b,\n  c]\n',
  '',
])('leaves %j to the library', text => {
  expect(readPlainYaml(text)).toBeUndefined();
});

const often = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: odd });
const KEY = often(
  fc.constantFrom('a', 'label', 'card', 'top_up_to', 'event-1', 'x9'),
  fc.constantFrom('true', 'null', '12', '"q"', '<<', '-', 'a b', '?'),
);
const SCALAR = often(
  fc.constantFrom(
    ...[
      '1',
      '25.00',
      '0123',
      'active',
      'a b',
      'a  b',
      'true',
      'null',
      'No',
      '30d',
      '2026-11-22',
      '7311',
      'ads/x@y',
      'NULL',
    ],
    ...['"x: y # z"', "'x'", '"é ü"', '""', "''", '"{n}, [b]"', "'a  '"],
  ),
  fc.constantFrom(
    ...[
      "'it''s'",
      '"a\\nb"',
      '*a',
      '&a b',
      '!x y',
      '|',
      '>',
      '~',
      '1e3',
      '.5',
      '-1',
      '+1',
      'a:b',
      'a#b',
      'a #b',
      'http://x',
    ],
    ...[
      'ads: search',
      '@x',
      '%x',
      'a, b',
      'a]',
      '{',
      '[',
      '- x',
      '? x',
      '12 34',
      '1.2.3',
      '"',
      "'",
      '0x1f',
      '1.',
      '0o7',
    ],
  ),
);
const GAP = often(fc.constantFrom('', ' '), fc.constantFrom('  ', '\t'));
const { value: VALUE } = fc.letrec<{ value: string; map: string; list: string }>(tie => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 3 }, SCALAR, tie('map'), tie('list')),
  map: fc
    .tuple(fc.array(fc.tuple(KEY, tie('value')), { maxLength: 3 }), GAP)
    .map(([entries, gap]) => `{${gap}${entries.map(([key, value]) => `${key}: ${value}`).join(`,${gap}`)}${gap}}`),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 3 }), GAP)
    .map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}]`),
}));
const END = often(fc.constantFrom('', '', '', '   # c', ' '), fc.constantFrom('#c', ' x', ':'));
const BETWEEN = often(
  fc.constantFrom('', '# c', '   ', '  # c'),
  fc.constantFrom('---', '...', '- a', 'x', '  x: y', '\t'),
);

interface Block {
  readonly key: string;
  readonly value: string;
  readonly end: string;
  readonly below: readonly Block[];
  readonly between: readonly string[];
  readonly indent: number;
}

const { block: BLOCK } = fc.letrec<{ block: Block }>(tie => ({
  block: fc.record({
    key: KEY,
    value: fc.oneof(VALUE, fc.constant('')),
    end: END,
    below: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('block'), { maxLength: 3 })),
    between: fc.array(BETWEEN, { maxLength: 1 }),
    indent: often(fc.constant(2), fc.constantFrom(0, 1, 4)),
  }),
}));

function linesOf({ key, value, end, below, between, indent }: Block, before = 0): readonly string[] {
  const isMap = below.length > 0;
  const first = `${' '.repeat(before)}${key}:${isMap || value === '' ? '' : ` ${value}`}${end}`;
  return [first, ...between, ...below.flatMap(each => linesOf({ ...each, indent: 2 }, before + indent))];
}

const TEXT = fc
  .tuple(fc.array(BLOCK, { minLength: 1, maxLength: 3 }), fc.constantFrom('\n', ''))
  .map(([blocks, end]) => blocks.flatMap(each => linesOf(each)).join('\n') + end);

test('makes the tree of the library, or none', () => {
  const runs = 1_000;
  let read = 0;
  fc.assert(
    fc.property(TEXT, text => {
      if (agrees(text)) read += 1;
    }),
    { numRuns: runs },
  );
  expect(read).toBeGreaterThan(runs / 4);
});

test('never throws, whatever it is given', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'binary', maxLength: 80 })), text => {
      agrees(text);
    }),
    { numRuns: 2_000 },
  );
});
