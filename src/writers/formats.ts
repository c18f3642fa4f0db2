/** The formats of an export by name, for those who ask before anything is written. */
export const EXPORT_FORMATS = ['csv', 'ofx', 'qbo', 'qif', 'hledger', 'ledger', 'beancount'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Columns of a CSV. */
export const LAYOUTS = ['plain', 'quickbooks', 'xero'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** How a CSV may write a day; a layout has one of its own. */
export const DATE_FORMATS = ['YYYY-MM-DD', 'MM/DD/YYYY', 'DD/MM/YYYY', 'DD.MM.YYYY'] as const;
export type DateFormat = (typeof DATE_FORMATS)[number];
