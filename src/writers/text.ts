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

/** The amount of an entry and of its other side, which takes it back. */
export function bothSides(value: number): readonly [string, string] {
  const digits = amount(Math.abs(value));
  return [value < 0 ? `-${digits}` : digits, value > 0 ? `-${digits}` : digits];
}

/** Cut to so many characters, and never within one. */
export function short(text: string, most: number): string {
  return text.length <= most ? text : [...text].slice(0, most).join('').slice(0, most).trimEnd();
}
