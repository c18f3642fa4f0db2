/** What the screen can show: its width and its glyphs. */
import type { Environment, OutputStream } from '../platform/host.ts';

export const DEFAULT_COLUMNS = 80;

/** Below this a table helps nobody; rows become `field: value` lines. */
export const NARROWEST_TABLE = 40;

function isWidth(text: string | undefined): boolean {
  return text !== undefined && /^[1-9]\d{0,5}$/.test(text);
}

/** `COLUMNS`, then the stream, then 80. */
export function screenWidth(env: Environment, stream: OutputStream): number {
  const asked = env['COLUMNS'];
  if (isWidth(asked)) return Number(asked);
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : DEFAULT_COLUMNS;
}

/** For what a person reads later, in a pipe or a file: `COLUMNS` where it is set, else nothing is cut. */
export function pageWidth(env: Environment, stream: OutputStream): number {
  const isOpen = !stream.isTerminal && !isWidth(env['COLUMNS']);
  return isOpen ? Number.POSITIVE_INFINITY : screenWidth(env, stream);
}

/** False where the locale is set and is not UTF-8, and on the bare Linux console. */
export function showsUnicode(env: Environment): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return env['TERM'] !== 'linux' && (locale === '' || /utf-?8/i.test(locale));
}

/** `…`, or `...` where that cannot be shown. */
export function ellipsisFor(env: Environment): string {
  return showsUnicode(env) ? '…' : '...';
}
