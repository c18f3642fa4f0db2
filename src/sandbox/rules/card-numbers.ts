/** Card numbers of the sandbox: valid to a checkout form, and never a number that was issued to somebody. */
import { checkDigit } from '../../core/card-numbers.ts';

/** Ranges no bank issues from, reserved for tests. The only place that knows how a number begins. */
export const TEST_RANGES = { visa: '400000', mastercard: '555555' } as const;

/** How many random digits a number has between its range and its check digit. */
export const FREE_DIGITS = 9;

/** Sixteen digits: the network's test range, nine free ones and the Luhn check digit. */
export function cardNumber(network: keyof typeof TEST_RANGES, free: string): string {
  const digits = TEST_RANGES[network] + free;
  return digits + checkDigit(digits);
}
