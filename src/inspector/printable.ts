/** Text from outside as it may be shown: what has no shape or turns the line around is made visible. */

import { EMOJI } from '../core/emoji.ts';

/** Controls, bidirectional and zero-width characters, lone surrogates. */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb]|[\ufe00-\ufe0f]/u;
/** The emoji come first: what joins the parts of one is passed over. */
const EMOJI_OR_UNSEEN = new RegExp(`${EMOJI}|${UNSEEN.source}`, 'gu');

export function printable(text: string): string {
  if (!UNSEEN.test(text)) return text;
  return text.replace(EMOJI_OR_UNSEEN, found =>
    UNSEEN.test(found.charAt(0)) && found.length === 1
      ? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
      : found,
  );
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** `10,034.00`; the numbers of a row are USD. */
export function money(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return '–';
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).replace('-', '−');
}

export const count = (number: number) => number.toLocaleString('en-US');

/** `2026-11-29 15:54:38` of an ISO time, which is UTC. */
export function shortTime(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? '–' : iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '');
}

/** How long until or since, in the largest unit that fits: `in 6 d`, `3 min ago`. */
export function fromNow(iso: string, nowIso: string): string {
  const ms = Date.parse(iso) - Date.parse(nowIso);
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const [size, unit] = units.find(([each]) => Math.abs(ms) >= each) ?? [1_000, 's'];
  const text = `${Math.floor(Math.abs(ms) / size)} ${unit}`;
  return ms >= 0 ? `in ${text}` : `${text} ago`;
}

/** JSON on several lines; other text as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

const ABBREVIATIONS: Readonly<Record<string, string>> = { mcc: 'MCC', three_ds: '3DS', bin: 'BIN' };

/** The name of a field as words. */
export const wordsOf = (name: string) => ABBREVIATIONS[name] ?? name.replaceAll('_', ' ');
