/** Pieces of what a person sees on standard output. */
import type { Block, Column, Row } from './view.ts';

/** A sentence; broken at the edge of a screen. */
export const lineBlock = (text: string) => ({ kind: 'line', text }) as const satisfies Block;

/** A line to be copied, never broken. */
export const copiedLine = (text: string) => ({ kind: 'line', text, whole: true }) as const satisfies Block;

/** Labels with their values, a line each. */
export const pairsBlock = (pairs: Extract<Block, { kind: 'pairs' }>['pairs']) =>
  ({ kind: 'pairs', pairs }) as const satisfies Block;

export const tableBlock = (columns: readonly Column[], rows: readonly Row[]) =>
  ({ kind: 'table', columns, rows }) as const satisfies Block;
