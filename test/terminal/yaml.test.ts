import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { yamlDocument } from '../../src/terminal/documents.ts';
import { codePoint } from '../support/code-point.ts';
import { requires } from '../support/programs.ts';

/** What YAML 1.1 or 1.2 could read as something else than text, or not at all. */
const TREACHEROUS = [
  ...['no', 'On', 'YES', 'y', 'N', 'off', 'true', 'False', 'null', 'NULL', '~', '', '=', '<<', '-', '?', ':', '.'],
  ...['1:20', '190:20:30.15', '0b11', '0o7', '017', '0x1F', '1_000', '1e3', '.5', '5.', '.inf', '-.INF', '.nan', '+1'],
  ...['2026-11-20', '2026-11-20T14:03:11Z', '2026-11-20 14:03:11 +2', '---', '...', '--- a', '%YAML 1.2', '!!str a'],
  ...['a: b', 'a #b', '#a', '- a', '? a', '&a', '*a', '!a', '|', '>', '@a', '`a', '[a', '{a}', 'a, b', "'a", '"a'],
  ...[' a', 'a ', '\ta', 'a\t', 'a\nb', 'a\r\nb', 'a\rb', '\n', 'a\n', '\\n', 'a\\', 'a:', 'a:b', 'http://a/#b'],
  ...['a\u2028b: c', 'a\u2029b', 'a\u0085b: 1', '\ufeffa', 'a\ufeff', 'a\x7fb', 'a\x9bb', '\x00', '\x1b[2J', '\u00a0a'],
  ...[
    '\ud800',
    'a\udfff',
    '\ufffe',
    '\uffff',
    'a\u200bb',
    'a\u202eb',
    '\u{e0041}',
    '👩‍👩‍👧',
    '❤️',
    'é',
    'e\u0301',
    '広告',
  ],
  ...['::stop-commands::x', '##[group]', 'x'.repeat(2000), `${'k'.repeat(1500)}: v`],
];

const texts = fc.oneof(
  fc.constantFrom(...TREACHEROUS),
  fc.string({ unit: codePoint, maxLength: 20 }),
  fc.array(fc.constantFrom(...TREACHEROUS, ' ', 'a'), { maxLength: 4 }).map(parts => parts.join('')),
);
const values = fc.letrec(tie => ({
  any: fc.oneof(
    { depthSize: 'small' },
    texts,
    fc.constantFrom(0, -12.5, 1e21, 1.5e-7, 120, 16.99, null, true, false),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(texts, tie('any'), { maxKeys: 3 }),
  ),
})).any;

/** Every text as a value, as a key and in a list; and values of every shape. */
function documents({ isWhole }: { readonly isWhole: boolean }): readonly unknown[] {
  const sampled = fc.sample(texts, { numRuns: isWhole ? 1500 : 120, seed: 7 });
  const shapes = fc.sample(values, { numRuns: isWhole ? 500 : 50, seed: 7 });
  return [...[...TREACHEROUS, ...sampled].map(text => ({ text, [text]: [text, { [text]: text }] })), ...shapes];
}

/** Both in one form: whole numbers have no point, and lone surrogates are escapes. */
const canonical = (value: unknown) => JSON.stringify(value, (_, item) => sorted(item));

function sorted(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const READ_ALL = `
import json, sys, yaml
for text in json.load(sys.stdin):
    print(json.dumps(yaml.safe_load(text.encode('utf-8')), default=repr, allow_nan=True))
`;

import { isWhole } from '../support/whole.ts';

describe('YAML holds exactly what JSON would, to every reader', () => {
  test.each(['1.2', '1.1'] as const)('the package yaml, as YAML %s', async version => {
    for (const value of documents({ isWhole })) {
      const text = yamlDocument(value);
      expect(canonical(parse(text, { version })), text).toBe(canonical(value));
    }
  });

  test.skipIf(requires('python3-yaml'))(
    'PyYAML, which reads YAML 1.1 (skipped where it is missing: python3-yaml)',
    async () => {
      const all = documents({ isWhole });
      const written = all.map(yamlDocument);
      const out = execFileSync('python3', ['-c', READ_ALL], { input: JSON.stringify(written), maxBuffer: 2 ** 28 });
      const lines = out.toString().trimEnd().split('\n');
      expect(lines).toHaveLength(all.length);
      lines.forEach((line, index) => {
        expect(canonical(JSON.parse(line)), written[index]).toBe(canonical(all[index]));
      });
    },
  );

  test('nothing in it acts on a terminal, and plain words stay bare', async () => {
    for (const value of documents({ isWhole })) {
      expect(yamlDocument(value)).not.toMatch(/[^\n\P{Cc}]|[\u2028\u2029\u202e\u200b\ufeff]|\u{e0041}/u);
    }
    const card = { id: 'card_1', label: 'Tokyo campaign', balance: 120, tags: [], metadata: {}, at: null };
    expect(yamlDocument({ data: [card], page: { current: 1 } })).toBe(
      'data:\n  - id: card_1\n    label: Tokyo campaign\n    balance: 120\n    tags: []\n    metadata: {}\n    at: null\npage:\n  current: 1\n',
    );
  });
});
