/** What a command hands over to be shown: data, and how a person sees it. `present()` turns both into the asked-for format. */
import type { CliError } from '../core/errors.ts';

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'ndjson', 'csv', 'tsv', 'env', 'id'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export type ColumnKind =
  | 'text'
  | 'id'
  | 'word'
  /** A JSON number in USD. */
  | 'money'
  | 'integer'
  | 'number'
  /** A number that already is a percentage: 98.5 is shown as `98.5%`. */
  | 'percent'
  | 'boolean'
  /** ISO 8601 text. */
  | 'time'
  /** ISO 8601 text or `YYYY-MM`, shown as `MM/YY`. */
  | 'month'
  | 'list'
  | 'map';

/** How one field of a row is shown. */
export interface Column {
  /** Key in the row; a dotted path reaches into objects. */
  readonly field: string;
  /** Heading, for example `BALANCE`. */
  readonly title: string;
  readonly kind: ColumnKind;
  /** 1 is never dropped; larger numbers are dropped first when the screen is narrow. */
  readonly priority: number;
  /** Shown by `-o wide` only, and always in TSV and CSV. */
  readonly wideOnly?: true;
  /** For a screen alone: in lines for programs another column holds it. */
  readonly screenOnly?: true;
  /** For programs alone: of a single result a person is told it in words. */
  readonly programOnly?: true;
  /**
   * An id that commands take short: on a screen that is too narrow for whole ones it is cut to what tells the rows apart,
   * to so many characters behind its prefix at least. Whole in every other format and off a terminal.
   */
  readonly shortTo?: number;
  /** May be shortened with an ellipsis; `wraps` goes on in the next line instead. Labels may, ids are cut by `shortTo`. */
  readonly shrink?: true | 'wraps';
  /** In lines of `field: value` only where there is a value, in a table only where any row has one. */
  readonly unlessEmpty?: true;
}

export type Row = Readonly<Record<string, unknown>>;

/** Of numbers over time. */
export interface Point {
  /** Cents. */
  readonly spent: number;
  /** Something was settled or refunded. */
  readonly moved: boolean;
}

/** A text with a line that draws its numbers before it; for a screen reader the text alone. */
interface Course {
  readonly points: readonly Point[];
  /** What one point stands for: `day`. */
  readonly each: string;
  readonly text: string;
}

/** One piece of what a person sees on stdout. Each text is one line; control text in it becomes visible. */
export type Block =
  /** `whole`: to be copied, and never broken at the edge of a screen. */
  | { readonly kind: 'line'; readonly text: string; readonly whole?: true }
  | { readonly kind: 'pairs'; readonly pairs: readonly (readonly [label: string, value: string | Course])[] }
  /** The text as a QR code, on a screen that is wide enough. */
  | { readonly kind: 'qr'; readonly text: string }
  | { readonly kind: 'table'; readonly columns: readonly Column[]; readonly rows: readonly Row[] };

/** A list result. Rows arrive page by page, so that ndjson, TSV and CSV can be written as they come. */
export interface Listing {
  readonly batches: AsyncIterable<readonly Row[]>;
  /** The JSON `page` object. Called once, after the batches ended. */
  page(): Readonly<Record<string, unknown>>;
  /** Rows that are kept once they are in the order that was asked for. */
  readonly most?: number;
  /**
   * The batches are work under way: names are checked before the first is asked for, the work goes on when nobody
   * reads its result any more, and rows without an id are no fault.
   */
  readonly runsOn?: true;
  /** A live view: each row is one line on a screen, written as it comes. */
  readonly isLive?: true;
  /** One hint line for a person, for example `4 cards, page 1. All pages: --all`. */
  footer?(rows: number): string | undefined;
  /** What a program is told on standard error where it got less than there is, after the batches ended. */
  cutShort?(): string | undefined;
}

export interface Presentation {
  /** A single result, exactly the JSON. Left out when there is a listing. */
  readonly data?: Row | readonly unknown[] | string;
  readonly listing?: Listing;
  /** The fixed order of TSV and CSV; tables pick from them. */
  readonly columns: readonly Column[];
  /** What one row is, in the singular: `card`. */
  readonly noun: string;
  /** The field printed by `-o id` and `-q`; `id` when left out. */
  readonly idField?: string;
  /** Whether `-o id` and `-q` print the id of a row; of every row when left out. */
  readonly idIf?: (row: Row) => boolean;
  /** The lines of `-q` where they are not the id. */
  readonly quiet?: readonly string[];
  /** What `-o env` prints in place of the data: names as they are. Throws where there is nothing to print. */
  readonly variables?: () => Readonly<Record<string, string>>;
  /** What a person sees for a single result; without it, pairs made from the columns. */
  readonly blocks?: readonly Block[];
  /** The rows of a single result that has some: what a pipe, CSV, TSV and ids hold in place of its head. */
  readonly rows?: { readonly columns: readonly Column[]; readonly rows: readonly Row[] };
  /** What a pipe that holds the rows alone lacks of the page; a line on stderr. */
  readonly headline?: string;
  /** A money field whose share of the largest is drawn beside each row of a table on a screen. */
  readonly bars?: string;
  /** `Next: …` lines for a person, on stderr. */
  readonly notes?: readonly string[];
}

/** What a command's result looks like. `data`, the JSON, is the result itself unless said otherwise. */
export interface Shown extends Presentation {
  /** Text that is the answer as it stands, whatever the format: a script, a document. */
  readonly verbatim?: string;
  /** A page to read in place of the table, on a screen and in a pipe. A named format gets the data. */
  readonly prose?: string;
  /** Reported after the answer; for a command that did some of what was asked. A function where rows come later. */
  readonly failure?: CliError | (() => CliError | undefined) | undefined;
  /** Exit code of a program that ran in our place, or of a view that a signal ended; a function where it comes later. */
  readonly exit?: number | (() => number);
  /** This run of a command that can change something changed nothing. */
  readonly changedNothing?: true;
  /** What goes on once the answer was given: a server serves. The run ends with it, and with its error. */
  readonly goesOn?: () => Promise<void>;
}

export interface OutputSettings {
  readonly format: OutputFormat;
  /** The format was asked for by name: a table is one off a terminal too. */
  readonly byName?: boolean;
  readonly fields?: readonly string[] | undefined;
  /** What `--jq` makes of the JSON: text with its line ends. */
  readonly jq?: ((value: unknown) => Promise<string>) | undefined;
  readonly columns?: readonly string[] | undefined;
  /** A field name, with a leading `-` for descending order. */
  readonly sort?: string | undefined;
  /** Fields that a row of this answer may have: of an answer without rows they may be asked for all the same. */
  readonly promised?: Iterable<string> | undefined;
  readonly quiet: boolean;
  readonly accessible: boolean;
  readonly csvRaw: boolean;
  readonly colour: 'always' | 'auto' | 'never';
  /** Milliseconds since 1970, for relative times. */
  readonly now: number;
}

// Pieces of what a person sees on standard output.

/** A sentence; broken at the edge of a screen. */
export const lineBlock = (text: string) => ({ kind: 'line', text }) as const satisfies Block;

/** A line to be copied, never broken. */
export const copiedLine = (text: string) => ({ kind: 'line', text, whole: true }) as const satisfies Block;

/** Labels with their values, a line each. */
export const pairsBlock = (pairs: Extract<Block, { kind: 'pairs' }>['pairs']) =>
  ({ kind: 'pairs', pairs }) as const satisfies Block;

export const tableBlock = (columns: readonly Column[], rows: readonly Row[]) =>
  ({ kind: 'table', columns, rows }) as const satisfies Block;
