/** Numbers over time as one line: one character a bucket, its height in proportion, from zero. */
import { centsOf } from '../core/money.ts';
import type { Column, Point } from './view.ts';

const MOST_POINTS = 30;
const LEVELS = { unicode: '▁▂▃▄▅▆▇█', ascii: '_.-=+*#@' } as const;
/** Nothing moved; more was refunded than spent. */
const SIGNS = { unicode: ['·', '▿'], ascii: [' ', 'v'] } as const;

/** At most thirty characters: more buckets are joined with their neighbours, as many in each as are needed (`joined`). */
export function sparkline(points: readonly Point[], { unicode }: { readonly unicode: boolean }) {
  const joined = Math.max(1, Math.ceil(points.length / MOST_POINTS));
  const shown: Point[] = [];
  for (let from = 0; from < points.length; from += joined) shown.push(sumOf(points.slice(from, from + joined)));
  const largest = Math.max(1, ...shown.map(({ spent }) => spent));
  const levels = [...LEVELS[unicode ? 'unicode' : 'ascii']];
  const [still, back] = SIGNS[unicode ? 'unicode' : 'ascii'];
  const draw = ({ spent, moved }: Point): string => {
    if (!moved) return still;
    if (spent < 0) return back;
    return levels[Math.max(0, Math.ceil((spent * levels.length) / largest) - 1)] ?? still;
  };
  return { text: shown.map(draw).join(''), joined };
}

function sumOf(points: readonly Point[]): Point {
  return {
    spent: points.reduce((sum, { spent }) => sum + spent, 0),
    moved: points.some(({ moved }) => moved),
  };
}

// Bars beside numbers: each as long as its share of the largest. They say nothing that the number does not.

/** Given up where the screen is narrow, after what is less important than a look at the whole. */
export const BAR_COLUMN: Column = { field: '', title: '', kind: 'text', priority: 3 };

const CELLS = 24;
/** Eighths of a cell, from none to seven. */
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One bar a value, in USD; none for what is not money or not above zero, at least a sliver for what is. */
export function bars(values: readonly unknown[], { unicode }: { readonly unicode: boolean }): readonly string[] {
  const amounts = values.map(value => Math.max(0, (typeof value === 'number' ? centsOf(value) : undefined) ?? 0));
  const largest = Math.max(1, ...amounts);
  return amounts.map(amount => {
    if (amount === 0) return '';
    if (!unicode) return '#'.repeat(Math.max(1, Math.round((amount * CELLS) / largest)));
    const eighths = Math.max(1, Math.round((amount * CELLS * 8) / largest));
    return '█'.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? '');
  });
}
