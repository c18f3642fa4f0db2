/**
 * Money. Inside everything is integer cents; decimals exist only at two edges: JSON numbers of the service and
 * text from or for people. No floating arithmetic on amounts anywhere, and never `trunc`: `Math.round(x * 100)`
 * is exact for every legal amount, truncation is wrong for 6 % of them.
 */
import { CliError } from './errors.ts';

declare const centsBrand: unique symbol;
declare const usdBrand: unique symbol;

/** An integer number of US cents. The only form in which amounts are added or compared. */
export type Cents = number & { readonly [centsBrand]: true };

/** A JSON number in USD as the service sends it, at most two decimals. Carried, shown, never added up. */
export type Usd = number & { readonly [usdBrand]: true };

/** Brands an integer as cents. Throws `internal` for anything that is not a safe integer. */
export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value)) {
    throw new CliError('internal', { message: `not a whole number of cents: ${value}` });
  }
  return (value === 0 ? 0 : value) as Cents;
}

/**
 * Cents of a JSON amount. Returns undefined when the number is not money: infinite, more than two decimals,
 * negative zero or beyond safe cents. Such a value never decides anything (docs/design/contract-and-assumptions.md, section 1).
 */
export function centsOf(usd: number): Cents | undefined {
  if (!Number.isFinite(usd) || Object.is(usd, -0)) return undefined;
  const rounded = Math.round(usd * 100);
  // Dividing back gives the same double exactly when the number had at most two decimals.
  if (!Number.isSafeInteger(rounded) || rounded / 100 !== usd) return undefined;
  return cents(rounded);
}

/** Whether an amount has so many cents that a JSON number does not tell them exactly. */
export function isTooLarge(usd: number): boolean {
  return Math.abs(usd) * 100 > Number.MAX_SAFE_INTEGER;
}

/** Cents of an amount already checked by the contract. Throws `internal` for a number that is not money. */
export function toCents(usd: Usd | number): Cents {
  const value = centsOf(usd);
  if (value === undefined) throw new CliError('internal', { message: `not an amount of money: ${usd}` });
  return value;
}

/** The JSON number of an amount, for a request body or an answer. */
export function toUsd(amount: Cents): Usd {
  return (amount / 100) as Usd;
}

/** Sum in cents. Throws `internal` beyond the safe range rather than lose a cent. */
export function sumCents(amounts: Iterable<Cents>): Cents {
  let sum = 0;
  for (const amount of amounts) sum = cents(sum + amount);
  return cents(sum);
}

const PLAIN = /^(\d{1,13})(?:\.(\d{1,2}))?$/;
const GROUPED = /^\$?(\d{1,3}(?:,\d{3})+|\d{1,13})(?:\.(\d{1,2}))?$/;

/**
 * Cents of what a person or a script typed: `25`, `25.5`, `1250.00`; with `grouped` also `$1,250.00`.
 * Returns undefined for everything else (`1e3`, `+5`, `.5`, `16.999`, `1.234,50`, other digits).
 */
export function parseAmount(text: string, { grouped = false } = {}): Cents | undefined {
  const match = (grouped ? GROUPED : PLAIN).exec(text);
  if (match === null) return undefined;
  const whole = (match[1] ?? '').replaceAll(',', '');
  const fraction = (match[2] ?? '').padEnd(2, '0');
  return cents(Number(whole) * 100 + Number(fraction));
}

const NOISY = /^(\d{1,13})\.(\d{2})(?:0{5,}|9{5,})\d{0,3}$/;

/**
 * The amount that binary floating point made a long number of, as `69.77` of `69.77000000000001`; undefined for any
 * other text. For a hint alone: such a text is never taken for the amount.
 */
export function amountBehindNoise(text: string): Cents | undefined {
  const [, whole = '', fraction = ''] = NOISY.exec(text) ?? [];
  if (whole === '') return undefined;
  const below = Number(whole) * 100 + Number(fraction);
  return cents(text[whole.length + 3] === '9' ? below + 1 : below);
}

/** `1234.50`: for machines, files and commands to copy. */
export function plainAmount(amount: Cents): string {
  const size = Math.abs(amount);
  const fraction = size % 100;
  return `${amount < 0 ? '-' : ''}${(size - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`;
}

/** `$1,234.50`: for people, whatever the locale. */
export function dollars(amount: Cents): string {
  const [whole = '', fraction = ''] = plainAmount(cents(Math.abs(amount))).split('.');
  return `${amount < 0 ? '-' : ''}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}

// What an operation or a run would take from the wallet.

export type Spending = ReturnType<typeof spendingOf>;

interface SpendingRow {
  readonly operation: string;
  readonly amount?: Cents | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Creating and funding spend; money that comes back to the wallet does not. With the amount of the costliest single operation
 * (`largest`), the cards that would be created, and whether something moves what nobody here knows (`isUncounted`).
 */
export function spendingOf(rows: Iterable<SpendingRow>) {
  let [largest, total, cards] = [0, 0, 0];
  const bins = new Set<string>();
  let isUncounted = false;
  for (const { operation, amount = 0, input } of rows) {
    if (operation === 'api.write') isUncounted = true;
    if (operation !== 'cards.create' && operation !== 'cards.fund') continue;
    largest = Math.max(largest, amount);
    total = cents(total + amount);
    if (operation !== 'cards.create') continue;
    cards += 1;
    bins.add(String(input['bin_id']));
  }
  return { largest: cents(largest), total: cents(total), cards, bins: bins as ReadonlySet<string>, isUncounted };
}
