/** Card numbers of the sandbox: valid to a checkout form, and never a number that was issued to somebody. */

/** Ranges no bank issues from, reserved for tests. The only place that knows how a number begins. */
export const TEST_RANGES = { visa: '400000', mastercard: '555555' } as const;

/** How many digits of chance a number takes between its range and its check digit. */
export const FREE_DIGITS = 9;

/** Sixteen digits: the network's test range, nine free ones and the Luhn check digit. */
export function cardNumber(network: keyof typeof TEST_RANGES, free: string): string {
  const digits = TEST_RANGES[network] + free;
  return digits + checkDigit(digits);
}

/** The digit that makes `digits` followed by it pass the Luhn check. */
export function checkDigit(digits: string): string {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const value = Number(digits.charAt(digits.length - 1 - place)) * (place % 2 === 0 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return String((10 - (sum % 10)) % 10);
}
