/** What the screen can show: its width and its glyphs. */
import type { Environment, OutputStream } from '../host.ts';

export const DEFAULT_COLUMNS = 80;

/** Below this a table helps nobody; rows become `field: value` lines. */
export const NARROWEST_TABLE = 40;

/** `COLUMNS`, then the stream, then 80. */
export function screenWidth(env: Environment, stream: OutputStream): number {
  const asked = env['COLUMNS'] ?? '';
  if (/^[1-9]\d{0,5}$/.test(asked)) return Number(asked);
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : DEFAULT_COLUMNS;
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
