/** How a command declares what it prints as JSON: a promise to scripts. Light, for commands load it. */
import {
  type AnyField,
  choice,
  flag,
  integer,
  list,
  map,
  money,
  must,
  nullable,
  number,
  object,
  type Shape,
  text,
  time,
} from '../contract/field.ts';
import { OURS } from './parsing/flag.ts';

export type Answers =
  /** One object. */
  | { readonly one: Shape }
  /** `{data, page}` of such objects. */
  | { readonly list: Shape; readonly page?: Shape }
  /** Text as it stands, whatever the format; with `--jq` a string. */
  | { readonly text: string }
  /** Nothing of ours on standard output. */
  | { readonly none: string }
  /** A document of another standard. */
  | { readonly any: string }
  | { readonly either: readonly Answers[] };

const of = (doc: string) => ({ doc, basis: OURS });

/** Fields of our own answers; in every answer unless wrapped in `maybe`, never null unless in `orNull`. */
export const tells = {
  text: (doc: string): AnyField => must(text(of(doc))),
  word: (doc: string, choices: readonly string[]): AnyField => must(choice(choices, of(doc))),
  time: (doc: string): AnyField => must(time(of(doc))),
  usd: (doc: string): AnyField => must(money(of(doc))),
  count: (doc: string): AnyField => must(integer(of(doc))),
  number: (doc: string): AnyField => must(number(of(doc))),
  yes: (doc: string): AnyField => must(flag(of(doc))),
  map: (doc: string): AnyField => must(map(of(doc))),
  texts: (doc: string): AnyField => must(list(text(of('')), of(doc))),
  rows: (shape: Shape, doc: string): AnyField => must(list(object(shape, of('')), of(doc))),
  object: (shape: Shape, doc: string): AnyField => must(object(shape, of(doc))),
  /** Whatever stands there. */
  json: (doc: string): AnyField => ({ kind: 'object', must: true, ...of(doc) }),
} as const;

export const orNull = (field: AnyField): AnyField => nullable(field);
export const maybe = (field: AnyField): AnyField => ({ ...field, must: false });

/** `page` of a bulk run: where it stands. */
export const RUN_PAGE = {
  op: tells.text('Operation in the journal; the one to resume.'),
  done: tells.count('Rows that are done.'),
  refused: tells.count('Rows that were refused.'),
  unknown: tells.count('Rows sent without a trustworthy answer.'),
  not_sent: tells.count('Rows that were not sent.'),
  left_out: tells.count('Cards of the selection in a state that the operation does not start from.'),
} as const;

/** One row of a bulk run (docs/design/cli.md, "Bulk"). */
export const RESULT_ROW = {
  row: tells.count('Number of the input row, from 1.'),
  outcome: tells.word('The outcome.', ['done', 'refused', 'unknown', 'not_sent']),
  card_id: orNull(tells.text('The card.')),
  last4: orNull(tells.text('Its last four digits.')),
  amount: orNull(tells.usd('Amount of the row, USD.')),
  error: orNull(tells.text('Why it was not done.')),
  request_id: orNull(tells.text('Identifier of the request, for support.')),
} as const;

/** What a bulk run prints. */
export const RUN_ANSWER: Answers = { list: RESULT_ROW, page: RUN_PAGE };
