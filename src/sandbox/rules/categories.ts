/** Merchant categories: four-digit MCCs, and the sandbox's own words for groups of them. */
import { HOLD_LIFE, TRAVEL_HOLD_LIFE } from '../../contract/spans.ts';

type Range = readonly [first: number, last: number];
const only = (...codes: number[]): readonly Range[] => codes.map(code => [code, code] as const);

const AIRLINES: readonly Range[] = [[3000, 3350], ...only(4511)];
const CAR_RENTAL: readonly Range[] = [[3351, 3500], ...only(7512)];
const LODGING: readonly Range[] = [[3501, 3999], ...only(7011)];
const CRUISES: readonly Range[] = only(4411);

export const CATEGORIES: Readonly<Record<string, readonly Range[]>> = {
  advertising: only(7311),
  airlines: AIRLINES,
  books: only(2741, 5192, 5942),
  car_rental: CAR_RENTAL,
  cruises: CRUISES,
  digital_goods: [[5815, 5818]],
  education: only(8211, 8220, 8241, 8244, 8249, 8299),
  electronics: only(5045, 5065, 5732, 5946),
  entertainment: only(7832, 7841, 7922, 7929, 7991, 7996, 7999),
  fuel: only(5541, 5542, 5983),
  groceries: only(5411, 5422, 5441, 5451, 5462, 5499),
  insurance: only(5960, 6300),
  lodging: LODGING,
  office_supplies: only(5021, 5044, 5111, 5943),
  restaurants: [[5811, 5814]],
  shipping: only(4214, 4215),
  shopping: only(5310, 5311, 5331, 5399, 5621, 5651, 5661, 5691, 5699, 5999),
  software: only(5734, 5817, 7372),
  telecom: only(4812, 4814, 4816, 4899),
  transport: only(4111, 4112, 4121, 4131, 4784),
  travel: [...AIRLINES, ...CAR_RENTAL, ...LODGING, ...CRUISES, ...only(4722)],
  utilities: only(4900),
};

const MCC = /^\d{4}$/;

export const isMcc = (text: string) => MCC.test(text);

/** A four-digit code, or a word of the table. */
export function isCategory(text: string): boolean {
  return isMcc(text) || Object.hasOwn(CATEGORIES, text);
}

/** Whether a whitelist lets a merchant's code through; an empty one lets all. */
export function allowsMcc(whitelist: readonly string[], mcc: string): boolean {
  if (whitelist.length === 0) return true;
  return whitelist.some(entry => entry === mcc || holds(CATEGORIES[entry], mcc));
}

function holds(ranges: readonly Range[] | undefined, mcc: string): boolean {
  const code = Number(mcc);
  return ranges?.some(([first, last]) => first <= code && code <= last) ?? false;
}

const HELD_LONGER = [...AIRLINES, ...CAR_RENTAL, ...LODGING, ...CRUISES];

/** When an authorization of a merchant expires: 7 days, 31 for travel. ms. */
export function authorizationDue(createdAt: number, mcc: string): number {
  return createdAt + (holds(HELD_LONGER, mcc) ? TRAVEL_HOLD_LIFE : HOLD_LIFE);
}
