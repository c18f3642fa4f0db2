/** Bars beside numbers: each as long as its share of the largest. They say nothing that the number does not. */
import { centsOf } from '../core/money.ts';
import type { Column } from './view.ts';

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
