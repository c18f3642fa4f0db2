/** The one currency of the interface (sections 2 and 2.3). */
export const ACCOUNT_CURRENCY = 'USD';

/** Whether something names this currency, in upper or lower case, or none: amounts are dollars. */
export function isInDollars({ currency }: { readonly currency?: string | null | undefined }): boolean {
  return currency == null || currency === '' || currency.toUpperCase() === ACCOUNT_CURRENCY;
}
