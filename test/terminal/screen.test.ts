import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMeasure } from '../../src/terminal/fold.ts';
import { painter } from '../../src/terminal/screen.ts';
import { drawByHand, drawTable, fitSheet } from '../../src/terminal/table.ts';
import { COLUMNS, cardList, show, TERMINAL } from './cards.ts';

describe('the card list of the mock-up', () => {
  test('at 80 columns', async () => {
    const { out, err } = await show(cardList(), TERMINAL);
    expect(out).toBe(`ID                             LAST4  STATUS        BALANCE  LABEL           AGE
card_7q2w4xk5m6n3p2r7t4v5y6z2  4242   active        $120.00  ads: search      2h
card_b3c6d7f2g5h4j7k2m6n3p4q5  1881   active      $4,980.50  広告 — Tokyo …   3d
card_r2s5t6v3w4x7y2z5a6b3c4d7  5454   frozen          $0.00  trial           12d
card_f5g2h7j4k3m6n5p2q7r4s3t6  0123   terminated      $0.00                  41d
`);
    expect(err).toBe('4 cards, page 1. All pages: --all   More columns: -o wide\n');
  });
});

describe('width', () => {
  test('a text that wraps loses nothing but blanks, and no row is wider than the screen but for a word that is copied', async () => {
    const measure = await createMeasure('…');
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(text => text.replace(/\s/g, '_'));
    const id = { field: 'id', title: 'ID', kind: 'id', priority: 1 } as const;
    const says = { field: 'says', title: 'SAYS', kind: 'text', priority: 1, shrink: 'wraps' } as const;
    const pen = { paint: await painter(0), measure };
    const bare = (text: string) => text.replaceAll(/[ \n]/g, '');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.integer({ min: 24, max: 90 }), (words, screen) => {
        const text = words.join(' ');
        const rows = [
          ['card_1', text],
          ['card_2', `${text}\ntry: it`],
        ];
        const sheet = fitSheet({ columns: [id, says], rows }, screen, measure);
        expect(bare(sheet?.rows.map(([, cell = '']) => cell).join('') ?? '')).toBe(bare(`${text}${text}try:it`));
        for (const line of drawByHand(sheet as NonNullable<typeof sheet>, pen)) {
          const isOneWord = /^(?:card_\d)? *[!-~]+$/.test(line);
          if (!isOneWord) expect(measure.width(line)).toBeLessThanOrEqual(screen);
        }
      }),
    );
  });

  test('shortening keeps graphemes whole', async () => {
    const measure = await createMeasure('…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.integer({ min: 1, max: 30 }), (text, cells) => {
        const short = measure.shorten(text, cells);
        expect(measure.width(short)).toBeLessThanOrEqual(cells);
        const graphemes = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
        const prefixes = graphemes.map((_, index) => `${graphemes.slice(0, index).join('')}…`);
        expect([text, ...prefixes, '…']).toContain(short);
      }),
    );
  });

  test('a locale that is not UTF-8 gets three dots', async () => {
    const shown = await show(cardList(), { ...TERMINAL, env: { NO_COLOR: '1', LC_ALL: 'C', LANG: 'en_US.UTF-8' } });
    expect(shown.out).toContain('広告 — Toky...');
  });
});

describe('the two ways of drawing', () => {
  const LABEL = fc.stringMatching(/^[A-Za-z0-9 ,.:é—広告カード한]{0,30}$/);

  test('look the same, with colour and without', async () => {
    const measure = await createMeasure('…');
    await fc.assert(
      fc.asyncProperty(
        fc.array(LABEL, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 40, max: 120 }),
        fc.constantFrom(0 as const, 1 as const),
        async (labels, screen, level) => {
          const rows = labels.map(label => ['card_1', '', '4242', 'active', '$1.00', '-', label, 'now']);
          const sheet = fitSheet({ columns: COLUMNS, rows }, screen, measure);
          if (sheet === undefined) throw new Error('the sheet must fit');
          const pen = { paint: await painter(level), measure };
          expect(await drawTable(sheet, pen)).toEqual(drawByHand(sheet, pen));
        },
      ),
      { numRuns: 60 },
    );
  });
});
