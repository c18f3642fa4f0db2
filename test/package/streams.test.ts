import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { CARD, json, type Served, serve } from '../client/served.ts';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';
import { ended, home } from './built.ts';

const PAGES = 10;
const LABEL = 'a label of some length, so that a page is large: '.repeat(8);

/** 1,000 cards in pages of 100, about 700 kB as JSON: ten times what a pipe holds. */
function manyCards(): Promise<Served> {
  return serve(({ url }, response) => {
    const page = Number(new URL(url, 'http://localhost').searchParams.get('page') ?? 1);
    const data = Array.from({ length: 100 }, (_, row) => ({ ...CARD, id: `card_${page}_${row}`, label: LABEL }));
    json(response, 200, { data, meta: { page, per_page: 100, total: PAGES * 100, has_more: page < PAGES } });
  });
}

describe('output', () => {
  it('reaches a slow reader whole', async () => {
    await using place = await home();
    await using service = await manyCards();
    const child = place.start(['cards', 'list', '--all', '--json'], { baseUrl: service.baseUrl });
    // Nobody reads before the last page was asked for: the pipe is full by then, many times over.
    child.stdout?.pause();
    const errors = ended(child);
    child.stdout?.pause();
    while (service.seen.length < PAGES) await new Promise(resolve => setImmediate(resolve));
    child.stdout?.resume();
    const { code, out, err } = await errors;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.length).toBeGreaterThan(500_000);
    const { data } = JSON.parse(out) as { data: { id: string }[] };
    expect(data).toHaveLength(PAGES * 100);
    expect(data.at(-1)?.id).toBe(`card_${PAGES}_99`);
  });

  it.each(firstOf(['json', 'ndjson', 'tsv', 'id'], { isWhole }))(
    'as %s ends quietly when the reader leaves',
    async format => {
      await using place = await home();
      await using service = await manyCards();
      const child = place.start(['cards', 'list', '--all', '-o', format], { baseUrl: service.baseUrl });
      child.stdout?.once('data', () => child.stdout?.destroy());
      const { code, signal, err } = await ended(child);
      expect({ code, signal, err }).toEqual({ code: 0, signal: null, err: '' });
      // Rows that nobody reads are not asked for either.
      if (format === 'ndjson') expect(service.seen.length).toBeLessThan(PAGES);
    },
  );

  it.skipIf(process.platform !== 'linux').each(firstOf(['--sandbox cards list', '--version', '--help'], { isWhole }))(
    'that cannot be written fails: %s to a full disk',
    async line => {
      await using place = await home();
      const full = openSync('/dev/full', 'w');
      try {
        const child = place.start(line.split(' '), { stdio: ['ignore', full, 'pipe'] });
        const { code, err } = await ended(child);
        expect({ code, err: err.split('\n')[0] }).toEqual({
          code: 15,
          err: 'error: cannot write standard output: no space is left (ENOSPC)',
        });
        expect(err).not.toMatch(/\n\s+at /);
      } finally {
        closeSync(full);
      }
    },
  );
});
