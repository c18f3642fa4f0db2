/** What a command is, as it is declared and as the machine handles it. */
import type { Effect, Operation } from '../../contract/operation.ts';
import type { ErrorKind } from '../../core/errors.ts';
import type { BulkDeclaration, BulkOperation, RunFlags } from '../bulk/flags.ts';
import type { Context, Shown } from '../context.ts';
import type { ColumnWords } from '../listing.ts';
import type { Answers, Argument, ArgumentValue, Flag, FlagSources, FlagValue, NamedArgument, RowName } from './flag.ts';

/** What a command has to do with beyond its own words; each stage includes the one before. */
export type Reach = 'words' | 'files' | 'service';

export interface Example {
  readonly does: string;
  /** Without the program's name; run as a test against the sandbox. */
  readonly run: string;
}

export type Arguments = Readonly<Record<string, Argument>>;

/** `fromInput`: ids were read from standard input, so the answer is a list, of one too. */
export type InputOfCommand<N, Args, Flags> = { readonly fromInput?: true } & {
  readonly [K in keyof Args]: ArgumentValue<Args[K]>;
} & {
  readonly [K in keyof Flags]: FlagValue<N, Flags[K]>;
};

export interface Declaration<N extends RowName | undefined, Args extends Arguments, Flags extends FlagSources<N>, R> {
  /** Words of the command, `cards fund`. */
  readonly path: string;
  /** One line, imperative, no full stop; it stands for a docstring of the declaration too. */
  readonly summary: string;
  /** More for its help page, a string for each paragraph. */
  readonly about?: string | readonly string[];
  /** Words that one of its arguments takes, and what each means, for its help page. */
  readonly terms?: Terms;
  /** The operation it carries out: limits, failures, effect and repeat rule of its help come from the row. */
  readonly operation?: N;
  /** What it may do, for one without an operation; `read` when left out. */
  readonly effect?: Effect;
  /** Its effect in words for its help, where those of the effect would not be true: no capital letter, no full stop. */
  readonly effectSays?: string;
  /** Whether it has a dry run; where it is left out, one of an operation and one that reads have. Else `--dry-run` is refused. */
  readonly dryRun?: boolean;
  /** What it has to do with, for one without an operation: files when it changes anything, else its words alone. */
  readonly reach?: Reach;
  /** Failures of its own, beyond those of its operation and reach, and what each means here: a sentence. */
  readonly ends?: Partial<Readonly<Record<ErrorKind, string>>>;
  /** What it prints as JSON, where that is not the answer of its operation. */
  readonly answers?: Answers | readonly Answers[];
  /** What one result is, in the singular; the field that `-o id` prints; the columns, of fields of the answer (see `columnsOf`). */
  readonly noun?: string;
  readonly idField?: string;
  readonly columns?: ColumnWords;
  readonly args?: Args;
  readonly flags?: Flags;
  /** What it does in words, and the line without the program's name. Beside a single one stands the same with `--json`. */
  readonly examples: Readonly<Record<string, string>>;
  /**
   * Takes many rows too, from `--file` or a selection of cards, in place of one operation (docs/design/cli.md, "Many rows").
   */
  readonly bulk?: N extends BulkOperation ? BulkDeclaration : never;
  /** Words after `--` are another program's command line, in `ctx.rest`, and no operands; whether its exit code is ours. */
  readonly rest?: 'run for its exit code' | 'kept';
  /** Flags that are asked for on a terminal as well when those that must be given are asked for. */
  readonly asks?: readonly (keyof Flags & string)[];
  /** Does the work and returns data. No stream, format, colour or exit code here. */
  run(ctx: Context, input: InputOfCommand<N, Args, Flags>): Promise<R>;
  /** A line for a person in place of the columns of a single result. */
  says?(result: R): string;
  /** What else is shown. The data itself is the JSON; rows, a list of the service and a `Listing` are listed. */
  show?(result: R): Partial<Shown>;
}

export interface Terms {
  readonly title: string;
  readonly rows: readonly { readonly term: string; readonly means: string }[];
}

/** A declared command with its types forgotten, as the machine handles it. */
export interface Command
  extends Pick<
    Declaration<RowName | undefined, Arguments, FlagSources<RowName | undefined>, unknown>,
    'path' | 'summary' | 'terms' | 'operation' | 'effectSays' | 'dryRun' | 'rest'
  > {
  /** What running it may do: of its operation, or its own for one that has none. */
  readonly effect: Effect;
  readonly reach: Reach;
  /** The row of its operation. */
  readonly row: Operation | undefined;
  readonly about: readonly string[];
  readonly examples: readonly Example[];
  readonly ends: NonNullable<Declaration<undefined, Arguments, FlagSources<undefined>, unknown>['ends']>;
  /** Undefined where its operation says it. */
  readonly answers: readonly Answers[] | undefined;
  readonly args: readonly NamedArgument[];
  readonly flags: readonly Flag[];
  /** Flags of a run of many rows; undefined for a command without such runs. */
  readonly runFlags: RunFlags | undefined;
  readonly asks: readonly string[];
  /** Runs it and returns what to present. */
  readonly execute: (ctx: Context, input: Readonly<Record<string, unknown>>) => Promise<Shown>;
}

/** The commands of a group by their words, in the order of help; each is loaded when it is named. */
export type Leaves = Readonly<Record<string, () => Promise<Command>>>;

/** A word that groups commands. */
export interface Group {
  readonly name: string;
  /** Heading of the root help it stands under. */
  readonly heading: string;
  readonly summary: string;
  /** No line of the root help; its last line names the topics of `help`. */
  readonly unlisted?: true;
  readonly leaves: () => Promise<Leaves>;
}

/** Loads every command of a group: for its help, and for documents. */
export async function commandsOf(group: Group): Promise<readonly Command[]> {
  return Promise.all(Object.values(await group.leaves()).map(load => load()));
}

/** Every group and top-level command, in the order of the root help. */
export type Registry = readonly Group[];
