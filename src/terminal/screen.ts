/** What a screen can show: its width, its glyphs, whether it gets colour, and the few colours there are. Home of chalk. */
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

/** 0 is none, 1 the sixteen colours every terminal has. Nothing here needs more. */
type ColourLevel = 0 | 1;

export interface ColourQuestion {
  /** `--color`; `auto` when it was not given. */
  readonly choice: 'always' | 'auto' | 'never';
  readonly env: Environment;
  readonly stream: Pick<OutputStream, 'isTerminal'>;
}

/**
 * `--color` > `NO_COLOR` (non-empty) > `FORCE_COLOR`, `CLICOLOR_FORCE` (not 0) > `CLICOLOR=0` > `TERM=dumb` >
 * is a terminal. `FORCE_COLOR=0` forbids colour, as it does for Node itself.
 */
export function colourLevel({ choice, env, stream }: ColourQuestion): ColourLevel {
  if (choice !== 'auto') return choice === 'always' ? 1 : 0;
  if (env['NO_COLOR']) return 0;
  const forced = env['FORCE_COLOR'];
  if (forced) return ['0', 'false'].includes(forced) ? 0 : 1;
  const force = env['CLICOLOR_FORCE'];
  if (force && force !== '0') return 1;
  if (env['CLICOLOR'] === '0' || env['TERM'] === 'dumb') return 0;
  return stream.isTerminal ? 1 : 0;
}

const BRUSHES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;
export type Paint = Readonly<Record<(typeof BRUSHES)[number], (text: string) => string>>;

/** Brushes for a level; at level 0 they return the text itself and nothing is loaded. */
export async function painter(level: ColourLevel): Promise<Paint> {
  const chalk = level === 0 ? undefined : new (await import('chalk')).Chalk({ level });
  return Object.fromEntries(BRUSHES.map(name => [name, chalk?.[name] ?? String])) as unknown as Paint;
}

const WORD_COLOURS = {
  green: ['active', 'approved', 'completed', 'delivered', 'done', 'ok', 'settled'],
  cyan: ['frozen'],
  yellow: ['pending', 'unknown', 'warning'],
  red: ['declined', 'failed', 'refused'],
  dim: ['disabled', 'expired', 'terminated'],
} as const satisfies Partial<Record<keyof Paint, readonly string[]>>;

/** A status word in its colour; the word itself says everything the colour does. */
export function paintWord(word: string, paint: Paint): string {
  const colours = Object.keys(WORD_COLOURS) as (keyof typeof WORD_COLOURS)[];
  const colour = colours.find(each => (WORD_COLOURS[each] as readonly string[]).includes(word));
  return colour === undefined ? word : paint[colour](word);
}
