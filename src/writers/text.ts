/** Texts and numbers as every format of an export has them. */
import { cents, plainAmount } from '../core/money.ts';

/** Most texts have nothing to be replaced. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Control, format and line separating characters become one blank, so that a text stays within its line and its place. */
export function oneLine(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ').trim();
}

/** ASCII alone, for formats that name no other encoding: accents fall away, what has no ASCII form becomes `?`. */
export function ascii(text: string): string {
  return oneLine(text)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/gu, '?');
}

/** `-1234.50`: two decimals, no grouping. */
export function amount(value: number): string {
  return plainAmount(cents(value));
}

/** Cut to so many characters, and never within one. */
export function short(text: string, most: number): string {
  return text.length <= most ? text : [...text].slice(0, most).join('').slice(0, most).trimEnd();
}

/** What each file says of an account that checkpoints do not show, before the reason. */
export const PROVISIONAL = 'Provisional:';

/** A file as it is written: text after text, so that a long one is never whole in memory. */
export interface Piece {
  readonly text: string;
  /** Lines of the statement in it. */
  readonly lines: number;
}

/** How a CSV may write a day; a layout has one of its own. */
export const DATE_FORMATS = ['YYYY-MM-DD', 'MM/DD/YYYY', 'DD/MM/YYYY', 'DD.MM.YYYY'] as const;
export type DateFormat = (typeof DATE_FORMATS)[number];

/** Another order of the parts of `2026-10-31`. */
export function day(date: string, format: DateFormat): string {
  if (format === 'YYYY-MM-DD') return date;
  return format.replace('YYYY', date.slice(0, 4)).replace('MM', date.slice(5, 7)).replace('DD', date.slice(8));
}
