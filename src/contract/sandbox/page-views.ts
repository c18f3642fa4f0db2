/** Views of the inspector and their addresses behind `#`, where they reach no server. */
import type { AnyField } from '../field.ts';
import type { Operation } from '../operation.ts';

/** In the order of the navigation; `overview` is the one it begins with. */
export const PAGE_VIEWS = [
  'overview',
  'cards',
  'transactions',
  'challenges',
  'deposits',
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

/** By the word that an id of the sandbox begins with. */
const VIEW_OF_ID = new Map<string | undefined, PageView>([
  ['card', 'cards'],
  ['txn', 'transactions'],
  ['tds', 'challenges'],
  ['dep', 'deposits'],
  ['req', 'requests'],
  ['dlv', 'webhooks'],
]);

/** Where a word leads: a view, or the view of an id. Undefined for neither. */
export function pageAddress(word: string | undefined): string | undefined {
  if (word === undefined || word === 'overview') return '/';
  if ((PAGE_VIEWS as readonly string[]).includes(word)) return `/${word}`;
  const view = VIEW_OF_ID.get(/^([a-z]+)_\w+$/.exec(word)?.[1]);
  return view && `/${view}/${word}`;
}

// What the build tells the inspector's page of rows and commands, so that nothing of either is typed there.

/** A field of a form. */
export interface PageField extends Pick<AnyField, 'kind' | 'doc' | 'must'>, Bounds {
  readonly name: string;
  readonly part: 'params' | 'query' | 'body';
}

/** `min` and `max` in the unit of the form: USD for money. */
type Bounds = { readonly [Name in 'min' | 'max' | 'maxLength' | 'choices' | 'defaults']?: AnyField[Name] | undefined };

/** The words of the command that does what a row does. */
export interface PageCommand {
  /** `sandbox simulate authorize` */
  readonly words: string;
  /** Fields that are arguments, in their order. */
  readonly args: readonly string[];
  /** Fields that are flags; behind one that ends with `=` or `-` the value follows at once. */
  readonly flags: Readonly<Record<string, string>>;
  /** Words that stand at the end, such as `--yes`. */
  readonly end?: string | undefined;
}

export interface PageRow extends Pick<Operation, 'summary' | 'method' | 'path'> {
  readonly fields: readonly PageField[];
  readonly command: PageCommand;
}

export interface PageTables {
  readonly version: string;
  readonly rows: Readonly<Record<string, PageRow>>;
  readonly events: readonly string[];
  /** Operations of the service. */
  readonly operations: readonly string[];
  /** Kinds of faults, each with the smallest action that is one. */
  readonly faults: readonly { readonly kind: string; readonly action: object; readonly ofDeliveries: boolean }[];
}
