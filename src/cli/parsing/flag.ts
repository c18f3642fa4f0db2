/**
 * Flags and arguments, and the fields of an answer. A flag is a field: either one of the operation's own (`'body.amount'`), so
 * that limits, choices and help come from the contract, or one of ours made here.
 */
import type { Calls } from '../../contract/calls.ts';
import type { AnyField, Field, InputFields, Shape } from '../../contract/field.ts';
import * as own from '../../contract/own-field.ts';
import { maybe, orNull, tells } from '../../contract/own-field.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';

type Rows = Calls & AdminOperations;
/** Operation of the interface, or of the sandbox's control surface. */
export type RowName = keyof Rows & string;

declare const typed: unique symbol;

type ShapeIn<Row, Part extends string> = Row extends { readonly [K in Part]: infer S extends Shape } ? S : never;
type Refs<Row, Part extends string> =
  ShapeIn<Row, Part> extends infer S ? ([S] extends [never] ? never : `${Part}.${keyof S & string}`) : never;

/** `body.amount`, `query.status`: a field of the operation the command is for. */
type FieldRef<N> = N extends RowName ? Refs<Rows[N], 'body'> | Refs<Rows[N], 'query'> | Refs<Rows[N], 'params'> : never;

/** A flag of ours. */
export interface OwnFlag<Value = unknown, Needed extends boolean = boolean> {
  readonly field: AnyField;
  readonly needed: Needed;
  /** Word for the value in help; derived from the field when left out. */
  readonly placeholder?: string;
  /** One letter, `f` for `-f`. */
  readonly short?: string;
  /** May be given several times; its value is the list of what was given, each as typed. */
  readonly eachTime?: true;
  /** Can make something happen twice: completion never inserts it. */
  readonly typedOnly?: true;
  /** Keys of flags that it cannot be given with. */
  readonly conflicts?: readonly string[];
  /** Type of the value; never there. */
  readonly [typed]?: Value;
}

type FlagSource<N> = FieldRef<N> | OwnFlag;
export type FlagSources<N> = Readonly<Record<string, FlagSource<N>>>;

/** What of a flag does not follow from its field; a text is its placeholder. */
type FlagFacts = string | Pick<OwnFlag, 'placeholder' | 'short' | 'conflicts'>;

/** `option(field)`: a flag that may be given; its value is the field's, or undefined. */
export function option<W, A>(field: Field<W, A>, facts: FlagFacts = {}): OwnFlag<A, false> {
  return { field, needed: false, ...(typeof facts === 'string' ? { placeholder: facts } : facts) };
}

/** `needs(field)`: a flag that must be given. */
export function needs<W, A>(field: Field<W, A>, facts?: FlagFacts): OwnFlag<A, true> {
  return { ...option(field, facts), needed: true };
}

/** A flag that may be given several times, and whose values may hold commas. */
export function eachTime<V, Needed extends boolean>(flag: OwnFlag<V, Needed>): OwnFlag<readonly V[], Needed> {
  return { ...flag, eachTime: true } as OwnFlag<readonly V[], Needed>;
}

/** A flag that is typed by hand or not at all: what it allows can happen a second time. */
export function typedOnly<V, Needed extends boolean>(flag: OwnFlag<V, Needed>): OwnFlag<V, Needed> {
  return { ...flag, typedOnly: true };
}

/** A length of time such as 30s; its value is milliseconds. */
export function duration(doc: string): OwnFlag<number, false> {
  const field: AnyField = own.text(doc, { local: 'duration' });
  return option(field as Field<string, number>, '<duration>');
}

/** A place or a setting of this machine; see `FieldFacts.local`. */
export function local(kind: NonNullable<AnyField['local']>, doc: string) {
  return own.text(doc, { local: kind });
}

type Picked<N, Ref> = N extends RowName
  ? Ref extends `${infer Part}.${infer Key}`
    ? ShapeIn<Rows[N], Part> extends infer S extends Shape
      ? Key extends keyof InputFields<S>
        ? InputFields<S>[Key]
        : never
      : never
    : never
  : never;

export type FlagValue<N, Source> =
  Source extends OwnFlag<infer V, infer Needed> ? (Needed extends true ? V : V | undefined) : Picked<N, Source>;

/** What flags of ours come to. */
export type FlagValues<Flags> = { readonly [K in keyof Flags]: FlagValue<undefined, Flags[K]> };

/** A positional argument. `many` takes one or more values, `-` among them reads more from standard input. */
export interface Argument<Value = unknown> {
  readonly field: AnyField;
  readonly many: boolean;
  /** May be left out; only the last ones may. */
  readonly optional?: true;
  readonly [typed]?: Value;
}

/** One value by its place. It is never empty: a value that may be empty needs a flag. */
export function argument<W, A>(field: Field<W, A>): Argument<A> {
  return { field, many: false };
}

export function optionalArgument<W, A>(field: Field<W, A>): Argument<A | undefined> {
  return { field, many: false, optional: true };
}

export function manyArguments<W, A>(field: Field<W, A>): Argument<readonly A[]> {
  return { field, many: true };
}

/** The words that are left, none of them too; `-` among them is a word. */
export function optionalArguments<W, A>(field: Field<W, A>): Argument<readonly A[] | undefined> {
  return { field, many: true, optional: true };
}

export type ArgumentValue<Source> = Source extends Argument<infer V> ? V : never;

/** An argument by its name. */
export interface NamedArgument extends Argument {
  readonly key: string;
  /** One of its values: `card` of `cards`. */
  readonly noun: string;
}

export function namedArgument(key: string, argument: Argument): NamedArgument {
  return { ...argument, key, noun: argument.many ? key.replace(/s$/, '') : key };
}

/** A flag as a line has it, with what follows from its key and its field. */
export interface Flag extends Pick<OwnFlag, 'field' | 'needed' | 'conflicts'> {
  readonly key: string;
  /** `--allow-category`. */
  readonly name: string;
  /** `-f`. */
  readonly short: string | undefined;
  /** `<usd>`; empty for a switch. */
  readonly placeholder: string;
  /** Words that stand for a value, as `auto` in `<bin|auto>`. */
  readonly literals: readonly string[];
  /** May be given several times. */
  readonly repeats: boolean;
  /** Completion never inserts it. */
  readonly typedOnly: boolean;
}

/** The flag that is declared under a key. */
export function flagOf(key: string, { short, eachTime, typedOnly, placeholder, ...own }: OwnFlag): Flag {
  const { field } = own;
  const word = placeholder ?? placeholderOf(field);
  const { choices, names } = field.item ?? field;
  const isName = names !== undefined && choices === undefined && field.choices === undefined;
  return {
    ...own,
    key,
    name: flagName(key),
    short: short && `-${short}`,
    placeholder: word,
    literals: isName ? word.slice(1, -1).split('|').slice(1) : [],
    repeats: eachTime === true || field.kind === 'list' || field.kind === 'map',
    typedOnly: typedOnly === true,
  };
}

/** `allowCategory` -> `--allow-category`. */
export function flagName(key: string): string {
  return `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** What stands for the value in help: `<usd>`, `<card>`, `<active|frozen>`; empty for a switch. */
function placeholderOf(field: AnyField): string {
  if (field.kind === 'flag') return '';
  if (field.choices && field.choices.length <= 4) return `<${field.choices.join('|')}>`;
  const inner = field.kind === 'list' ? field.item : field;
  if (inner?.names) return `<${inner.names}>`;
  const words: Partial<Record<AnyField['kind'], string>> = {
    money: '<usd>',
    integer: '<n>',
    number: '<n>',
    time: '<time>',
    map: '<key=value>',
    choice: '<word>',
  };
  return words[field.kind] ?? '<text>';
}

/** A form that the answer of a command may have. */
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
  | { readonly any: string };

/** Fields on the top of each form that has some. */
export function shapesOf(answers: readonly Answers[]): readonly Shape[] {
  return answers.flatMap(each => ('one' in each ? [each.one] : 'list' in each ? [each.list] : []));
}

/** Fields of our own options and arguments, by what help says of them. */
export const takes = own;
export { maybe, orNull, tells };

/** `page` of a bulk run: where it stands. */
export const RUN_PAGE = {
  op: tells.text('Operation in the journal; the one to resume.'),
  done: tells.count('Rows that are done.'),
  refused: tells.count('Rows that were refused.'),
  unknown: tells.count('Rows sent without a trustworthy answer.'),
  not_sent: tells.count('Rows that were not sent.'),
  left_out: tells.count('Cards of the selection in a state that the operation does not start from.'),
} as const;

/** One row of a bulk run (docs/design/cli.md, "Many rows"). */
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
