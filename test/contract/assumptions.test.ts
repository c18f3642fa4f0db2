import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ASSUMPTION_IDS, assumption, isAssumptionId } from '../../src/contract/assumption.ts';
import { NO_OVERRIDES } from '../../src/contract/overrides.ts';
import { facts } from '../../src/contract/provenance.ts';
import { READ_LAG } from '../../src/contract/spans.ts';
import { SECOND } from '../../src/core/durations.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

/** Every `A-nn` written in a source file, with the file. */
function literals(): readonly (readonly [id: string, file: string])[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .flatMap(file =>
      [...readFileSync(`${source}${file}`, 'utf8').matchAll(/\bA-\d+\b/g)].map(([id]) => [id, file] as const),
    );
}

describe('assumptions.json', () => {
  it('names no id that source files do not know, and source files none that it lacks', () => {
    const unknown = literals().filter(([id]) => !isAssumptionId(id));
    expect(unknown).toEqual([]);
  });

  it('has no row that nothing rests on: contract show lists each behind a fact', () => {
    const shown = new Set(facts(NO_OVERRIDES).map(({ assumed }) => assumed));
    expect(ASSUMPTION_IDS.filter(id => !shown.has(id))).toEqual([]);
  });

  it('says for every row what is taken', () => {
    for (const id of ASSUMPTION_IDS) {
      expect(assumption(id).taken, id).not.toBe('');
      expect(['H', 'M', 'L', undefined], id).toContain(assumption(id).confidence);
    }
  });

  it('says how far readings may be behind as the pauses of a look add up to (A-170), in pages and help too', () => {
    const lag = `${READ_LAG / SECOND}`;
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const pages = ['docs/guide/lost-answers.md', 'docs/design/reliability.md', 'docs/reference/ops.md'];
    for (const page of pages) expect(readFileSync(`${root}${page}`, 'utf8'), page).toMatch(new RegExp(`\\b${lag} s`));
    expect(JSON.stringify(assumption('A-170'))).toContain(`${lag} s`);
  });

  it('knows ids by their exact form', () => {
    expect(isAssumptionId('A-08')).toBe(true);
    for (const text of ['A-8', 'a-08', 'A-999', '', 'toString', '__proto__']) expect(isAssumptionId(text)).toBe(false);
  });
});
