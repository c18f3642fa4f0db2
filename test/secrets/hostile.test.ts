/**
 * Text made to steer a terminal, through every command and format. On a terminal not one control character may arrive
 * but our own newlines (docs/design/security.md, F1 to F8).
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serve } from '../client/served.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';
import { hostileService, ROWS } from './hostile-service.ts';
import { walkHostile } from './hostile-walk.ts';

const LEAST_STRINGS = isWhole ? 100_000 : 300;

describe('on a terminal', () => {
  it(`no control character of ${LEAST_STRINGS} hostile strings arrives, in any view of any command`, async () => {
    const { strings, lines } = await walkHostile(LEAST_STRINGS);
    expect(strings).toBeGreaterThanOrEqual(LEAST_STRINGS);
    expect(lines.length).toBeGreaterThanOrEqual(25);
  }, 600_000);
});

describe('in a pipe', () => {
  let service: Served;
  beforeEach(async () => {
    service = await serve(hostileService().answer);
  });
  afterEach(() => service.close());
  const LISTS = ['cards list', 'tx list', 'bins list', '3ds list', 'webhooks list', 'wallet addresses'];

  it('rows stay rows: the number of TSV fields is the same in each', async () => {
    await using here = await world();
    for (const line of LISTS) {
      const { out, err } = await here.run(line, { env: service.env });
      const rows = out.slice(0, -1).split('\n');
      expect([line, err, rows.length]).toEqual([line, expect.any(String), ROWS]);
      expect(new Set(rows.map(row => row.split('\t').length)).size).toBe(1);
    }
  });

  it('no cell of a CSV is a formula, read back by the rules of CSV', async () => {
    await using here = await world();
    for (const line of LISTS) {
      let guarded = 0;
      for (let round = 0; round < 4; round += 1) {
        const { out } = await here.run(`${line} -o csv`, { env: service.env });
        const [, ...rows] = cellsOf(out);
        expect(rows).toHaveLength(ROWS);
        for (const cell of rows.flat()) {
          if (cell.startsWith("'")) guarded += 1;
          const formula = /^(?:[\t\r]|\s*[=+\-@\uff1d])/.test(cell) && !/^-?\d+(?:\.\d+)?$/.test(cell);
          expect({ line, cell, formula }).toEqual({ line, cell, formula: false });
        }
      }
      // Every list shows a string of the service in each row.
      expect({ line, many: guarded >= 5 }).toEqual({ line, many: true });
    }
  });
});

/** RFC 4180: quotes around a cell, doubled inside, and any character between them. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (end === '' && quoted === undefined && plain === '') break;
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end?.endsWith('\n')) rows.push([]);
  }
  return rows.filter(row => row.length > 0);
}
