/** Views of the inspector and their addresses behind `#`, where they reach no server. */

/** In the order of the navigation; `overview` is the one it begins with. */
export const PAGE_VIEWS = [
  'overview',
  'cards',
  'requests',
  'webhooks',
  'clock',
  'faults',
  'simulate',
  'snapshots',
  'scenarios',
  'invariants',
] as const;
export type PageView = (typeof PAGE_VIEWS)[number];

/** Ids of the sandbox say what they are. */
const PLACES: readonly (readonly [RegExp, (id: string) => string])[] = [
  [/^card_\w+$/, id => `/cards/${id}`],
  [/^txn_\w+$/, id => `/why/${id}`],
  [/^req_\w+$/, id => `/requests/${id}`],
  [/^dlv_\w+$/, id => `/webhooks/${id}`],
];

/** Where a word leads: a view, or the view of an id. Undefined for neither. */
export function pageAddress(word: string | undefined): string | undefined {
  if (word === undefined || word === 'overview') return '/';
  if ((PAGE_VIEWS as readonly string[]).includes(word)) return `/${word}`;
  return PLACES.find(([form]) => form.test(word))?.[1](word);
}
