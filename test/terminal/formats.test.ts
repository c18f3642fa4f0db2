import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { guardFormula, unguardFormula } from '../../src/core/text.ts';
import type { OutputFormat, Row } from '../../src/terminal/view.ts';
import { codePoint } from '../support/code-point.ts';
import { CARDS, COLUMNS, cardList, inBatches, show, TERMINAL } from './cards.ts';

const HOSTILE_TEXT = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 30 }),
  fc.stringMatching(/^[\t\n\r\\'"$`(),;=+@ a-z-]{0,30}$/),
);

const one = (row: Row) => ({ noun: 'card', columns: COLUMNS, data: row });

/** The way back from the escapes of TSV; a backslash of the text itself stands there twice. */
function unescaped(cell: string): string {
  return cell.replace(/\\(?:([tnr\\])|x(..)|u\{(\w+)\})/g, (_, letter, byte, point) => {
    const code = Number.parseInt(byte ?? point ?? '', 16);
    return ({ t: '\t', n: '\n', r: '\r', '\\': '\\' } as Record<string, string>)[letter] ?? String.fromCodePoint(code);
  });
}

async function* thenFailing(): AsyncIterable<readonly Row[]> {
  yield CARDS;
  throw new CliError('unreachable', { message: 'page 2 did not come' });
}

describe('TSV', () => {
  test('the field count is constant under hostile labels, and cells come back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(HOSTILE_TEXT, { minLength: 1, maxLength: 5 }), async labels => {
        const { out } = await show(cardList(inBatches(labels.map(label => ({ ...CARDS[0], label })))));
        const lines = out.split('\n').slice(0, -1);
        expect(lines).toHaveLength(labels.length);
        lines.forEach((line, index) => {
          const cells = line.split('\t');
          expect(cells).toHaveLength(COLUMNS.length);
          expect(unescaped(cells[6] ?? '')).toBe(labels[index]);
        });
      }),
    );
  });
});

test('-o id of a result that has rows is its own id', async () => {
  const operation = { noun: 'operation', idField: 'op', columns: [], data: { op: 'op_1' } };
  const { out } = await show({ ...operation, rows: { columns: COLUMNS, rows: CARDS } }, { settings: { format: 'id' } });
  expect(out).toBe('op_1\n');
});

describe('JSON and ndjson', () => {
  test.each(['json', 'table', 'env'] as const)('%s: a failing later page leaves stdout empty', async format => {
    const shown = await show(cardList(thenFailing()), { ...TERMINAL, settings: { format } });
    expect(shown.out).toBe('');
    expect(shown.error).toMatchObject({ kind: 'unreachable' });
  });

  test('control text is escaped on a terminal and in a pipe, for `| head` ends on one', async () => {
    const label = 'a\u202eb\x9b\u{e0041}';
    const rows = [{ id: `card_\x1b[2J`, label }];
    const acting = /[\x1b\x9b\u202e]|\u{e0041}/u;
    for (const options of [TERMINAL, {}]) {
      for (const format of ['json', 'ndjson'] as const) {
        const { out } = await show(cardList(inBatches(rows)), { ...options, settings: { format } });
        expect(out).toContain('a\\u202eb\\u009b\\udb40\\udc41');
        expect(out).toContain(JSON.stringify('card_\x1b[2J'));
      }
      for (const format of ['table', 'wide', 'csv', 'tsv', 'id', 'ndjson', 'json'] as const) {
        const { out } = await show(cardList(inBatches(rows)), { ...options, settings: { format } });
        expect([format, out.match(acting)]).toEqual([format, null]);
      }
      const asText = await show({ noun: 'code', columns: [], data: label }, options);
      expect(asText.out).not.toMatch(acting);
    }
  });

  test('the ways out that are raw in a pipe: --csv-raw, --jq and env', async () => {
    const label = 'a\u202eb\x9b';
    const raw = { format: 'csv', csvRaw: true, fields: ['label'] } as const;
    expect((await show(one({ label }), { settings: raw })).out).toBe(`label\n${label}\n`);
    expect((await show(one({ label }), { settings: { format: 'env' } })).out).toBe(`LABEL='${label}'\n`);
    const jq = async () => `${label}\n`;
    expect((await show(one({ label }), { settings: { format: 'json', jq } })).out).toBe(`${label}\n`);
    for (const settings of [raw, { format: 'env' }, { format: 'json', jq }] as const) {
      expect((await show(one({ label }), { ...TERMINAL, settings })).out).not.toMatch(/[\x9b\u202e]/);
    }
  });
});

describe('CSV', () => {
  test('the guard comes off again, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(HOSTILE_TEXT, fc.stringMatching(/^'{0,3}[=+@\t\r-]?[a-z]{0,3}$/)), text => {
        expect(unguardFormula(guardFormula(text))).toBe(text);
        expect(guardFormula(text)).not.toMatch(/^[=+\-@\t\r]/);
      }),
    );
  });

  test.each([...'=+-@＝＋－＠﹦﹢﹣﹫', '\t', '\r', '\n', ' =', '\u3000＝'])(
    '%j at the beginning is guarded',
    async sign => {
      const rows = inBatches([{ id: 'card_1', label: `${sign}1+1` }]);
      const { out } = await show(cardList(rows), { settings: { format: 'csv', fields: ['label'] } });
      const shown = sign === '\r' ? '\\r1+1' : `'${sign}1+1`;
      expect(out.replaceAll('"', '')).toBe(`label\n${shown}\n`);
    },
  );
});

describe('env', () => {
  const evaluated = (text: string, name: string) =>
    execFileSync('/bin/sh', ['-c', `eval "$1"; printf %s "$${name}"`, 'sh', text], { encoding: 'utf8' });

  test('a hostile label runs nothing and arrives whole', async () => {
    for (const label of ['$(touch /nowhere)', '`id`', "'; exit 7; '", '\\', '"\n$HOME', "''", '-n', '!! ~ *']) {
      const { out } = await show(one({ ...CARDS[0], label }), { settings: { format: 'env' } });
      expect(evaluated(out, 'LABEL')).toBe(label);
    }
  });

  test('an unknown field cannot become a variable the shell acts upon, nor take the place of a known one', async () => {
    const row = { path: '/evil', ld_preload: 'x.so', bash_env: 'x', Id: 'other', id: 'card_1', 'a;id': 1 };
    const { out, err } = await show(one(row), { settings: { format: 'env' } });
    expect(out).toBe("ID='card_1'\nA_ID='1'\n");
    expect(err).toContain('path, ld_preload, bash_env, Id');
  });
});

describe('ids, names, order', () => {
  const FORMATS: readonly OutputFormat[] = ['table', 'wide', 'json', 'ndjson', 'csv', 'tsv', 'id'];

  test.each(FORMATS)('%s: an unknown name is refused before any output, with the valid ones', async format => {
    for (const named of [{ fields: ['id', 'nope'] }, { columns: ['nope'] }, { sort: '-nope' }]) {
      for (const batches of [inBatches(CARDS), inBatches([])]) {
        const shown = await show(cardList(batches), { ...TERMINAL, settings: { format, ...named } });
        expect(shown.out).toBe('');
        expect(shown.error).toMatchObject({ kind: 'usage' });
        expect((shown.error as Error).message).toMatch(/nope.*id, network, last4/);
      }
    }
  });

  test('sorting is by value, stable, and puts absent last both ways', async () => {
    const rows = [{ id: 'a', balance: 9 }, { id: 'b', balance: 100 }, { id: 'c' }, { id: 'd', balance: 9 }];
    const sorted = async (sort: string) =>
      (await show(cardList(inBatches(rows)), { settings: { format: 'id', sort } })).out.replaceAll('\n', '');
    expect(await sorted('balance')).toBe('adbc');
    expect(await sorted('-balance')).toBe('badc');
  });

  test('a closed stdout ends the reading of pages', async () => {
    let pages = 0;
    async function* endless(): AsyncIterable<readonly Row[]> {
      for (;;) {
        pages += 1;
        yield CARDS;
      }
    }
    const shown = await show(cardList(endless()), { stdoutClosesAfter: 1, settings: { format: 'ndjson' } });
    expect(shown.error).toBeUndefined();
    expect(pages).toBe(1);
  });
});

describe('money', () => {
  test('whatever comes, no NaN and no invented amount', async () => {
    const odd = fc.oneof(
      fc.double(),
      fc.string(),
      fc.jsonValue(),
      fc.constantFrom(16.999, -0, 1e300, Number.NaN, '12.30'),
    );
    await fc.assert(
      fc.asyncProperty(odd, async balance => {
        fc.pre(typeof balance !== 'string' || !balance.includes('NaN'));
        const row = { id: 'card_1', balance };
        for (const options of [TERMINAL, {}, { ...TERMINAL, settings: { accessible: true } }]) {
          expect((await show(cardList(inBatches([row])), options)).out).not.toMatch(/NaN|Infinity/);
        }
      }),
    );
    const { out } = await show(cardList(inBatches([{ id: 'card_1', balance: 16.999 }])), TERMINAL);
    expect(out).toContain(' 16.999 ');
    expect(out).not.toContain('$');
  });
});
