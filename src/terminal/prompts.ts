/**
 * Questions to a person. Asked on stderr, only when stdin and stderr are terminals: a piped `y` is never an answer (the library itself would take it, and
 * its default is Yes).
 */
import { CliError, notSent, usage } from '../core/errors.ts';
import { parseAmount } from '../core/money.ts';
import { Secret } from '../core/secret.ts';
import { sameCommandWith } from '../core/shell-quote.ts';
import { utf8Text } from '../core/text.ts';
import type { InputStream, Streams } from '../platform/host.ts';
import { createMeasure, fold } from './fold.ts';
import { printable } from './printable.ts';
import { DEFAULT_COLUMNS } from './screen.ts';

interface PromptOptions {
  readonly streams: Pick<Streams, 'stdin' | 'stderr'>;
  /** False with `--no-input`, `--json`, in CI. */
  readonly allowed: boolean;
  /** The real standard input and standard error. */
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Ends an open question with its reason. */
  readonly signal?: AbortSignal;
  /** Choices are numbered lines; nothing is redrawn. */
  readonly accessible?: boolean;
}

/** The flag that answers the question without asking, for the refusal where nobody can be asked. */
export interface Substitute {
  readonly flag: string;
}

export interface Choice<Value> {
  readonly value: Value;
  readonly name: string;
}

type Library = typeof import('./questions.ts');
type Streamed = Pick<PromptOptions, 'input' | 'output'> & { readonly signal: AbortSignal };
/** Asks with the library; the words are broken for the screen. */
type Question<Answer> = (library: Library, message: string, context: Streamed) => Promise<Answer>;

const plain = (text: string) => text;

/** The library colours without asking about the stream; plain text is right everywhere. */
const PLAIN_THEME = {
  prefix: '?',
  style: {
    answer: plain,
    message: plain,
    error: (text: string) => `> ${text}`,
    defaultAnswer: (text: string) => `(${text})`,
    help: plain,
    highlight: plain,
    key: plain,
    description: plain,
    disabled: plain,
    maskedText: '[hidden]',
  },
} as const;

/** Cells that stay free behind a question, for what follows it: `(y/N)` with the answer, or what is typed. */
const BEHIND = { yesNo: 10, word: 8, text: 20 } as const;

/** Cells of the cursor before a choice, and the last of a line, where some terminals begin the next one. */
const BESIDE_CHOICE = 3;

/** What the library puts before a question. */
const MARK = '? ';

const END_OF_INPUT = 'end of input';

const unconfirmed =
  ({ flag }: Substitute) =>
  (why: string) =>
    notSent('not_confirmed', `${why}: this needs a confirmation`, sameCommandWith(flag));

const missing =
  ({ flag }: Substitute) =>
  (why: string) =>
    usage(`${why}: give ${flag} on the command line`);

export type Prompts = ReturnType<typeof createPrompts>;

/**
 * Questions on the given streams. Each asks by itself; nothing is loaded before the first. Where nobody can be asked, `confirm` and
 * `typed` throw `not_confirmed`, the others `usage`.
 */
export function createPrompts(options: PromptOptions) {
  const { streams, allowed } = options;
  const available = allowed && streams.stdin.isTerminal && streams.stderr.isTerminal;

  const columns = streams.stderr.columns ?? DEFAULT_COLUMNS;
  /**
   * Asks once; so many cells stay free behind the question. ^C is `interrupted`; a closed input is no answer and never leaves the
   * question open: readline only pauses its input at ^D, and the library would wait for ever.
   */
  const run = async <Answer>(
    question: string,
    behind: number,
    refusal: (why: string) => CliError,
    show: Question<Answer>,
  ): Promise<Answer> => {
    if (!available) throw refusal('nobody can be asked here');
    const library = await import('./questions.ts');
    const message = await wordedQuestion(question, columns, behind);
    const ended = new AbortController();
    const end = () => setImmediate(() => ended.abort(END_OF_INPUT));
    const { input, output } = options;
    const signal = options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
    input.on('pause', end).on('end', end);
    // An input that ended earlier says so no more.
    if ('readableEnded' in input && input.readableEnded === true) end();
    try {
      return await show(library, message, { input, output, signal });
    } catch (thrown) {
      const name = thrown instanceof Error ? thrown.name : '';
      if (name === 'ExitPromptError') throw notSent('interrupted', 'cancelled at the question. Nothing was changed.');
      if (name !== 'AbortPromptError') throw thrown;
      throw signal.reason === END_OF_INPUT ? refusal('the input ended without an answer') : signal.reason;
    } finally {
      input.off('pause', end).off('end', end);
    }
  };
  const input =
    (problem?: (text: string) => string | undefined): Question<string> =>
    (library, message, context) => {
      const validate = (text: string) => printable(problem?.(text) ?? '') || true;
      return library.input({ message, validate, theme: PLAIN_THEME }, context);
    };
  const choose = <Value>(question: string, choices: readonly Choice<Value>[], substitute: Substitute): Promise<Value> =>
    run(question, BEHIND.text, missing(substitute), (library, message, context) => {
      const named = choices.map(({ value, name }) => ({ value, name: printable(name) }));
      return library.rawlist({ message, choices: named, theme: PLAIN_THEME }, context);
    });

  return {
    available,
    /** Yes or no, default No. */
    confirm: (question: string, substitute: Substitute): Promise<boolean> =>
      run(question, BEHIND.yesNo, unconfirmed(substitute), (library, message, context) =>
        library.confirm({ message, default: false, theme: PLAIN_THEME }, context),
      ),
    /** True when exactly `expect` was typed, an amount in any of its forms: `1600.00`, `1600`, `$1,600.00`. */
    async typed(question: string, { expect, flag }: Substitute & { readonly expect: string }): Promise<boolean> {
      const answer = await run(question, BEHIND.word, unconfirmed({ flag }), input());
      return (
        answer.trim() === expect ||
        (/\.\d{2}$/.test(expect) && parseAmount(answer.trim(), { grouped: true }) === parseAmount(expect))
      );
    },
    /** Asked again until `problem` says nothing. */
    text: (
      question: string,
      { flag, problem }: Substitute & { readonly problem?: (text: string) => string | undefined },
    ): Promise<string> => run(question, BEHIND.text, missing({ flag }), input(problem)),
    /** Typed without echo. */
    async secret(question: string, substitute: Substitute): Promise<Secret> {
      const typed = await run(question, BEHIND.text, missing(substitute), (library, message, context) =>
        // By default ^T would show what was typed.
        library.password({ message, toggleMask: false, theme: PLAIN_THEME }, context),
      );
      return new Secret(typed);
    },
    choose,
    /** One of many, found by typing parts of its name. */
    async search<Value>(question: string, choices: readonly Choice<Value>[], substitute: Substitute): Promise<Value> {
      if (options.accessible) return choose(question, choices, substitute);
      const find = await searched(choices, columns);
      const typed = `${question} (type to search)`;
      const place = await run(typed, BEHIND.word, missing(substitute), (library, message, context) =>
        library.pick({ message, find }, context),
      );
      const choice = choices[place];
      if (choice === undefined) throw new CliError('internal', { message: `there is no choice ${place}` });
      return choice.value;
    },
  };
}

/** The search over the choices, each in one line of the screen, and over what was left out of it too. */
async function searched(choices: readonly Choice<unknown>[], columns: number) {
  const measure = await createMeasure('...');
  const listed = choices.map(({ name }, place) => {
    const whole = printable(name);
    return { place, whole, name: measure.shorten(whole, columns - BESIDE_CHOICE) };
  });
  return (typed: string) => {
    const words = typed.toLowerCase().split(/\s+/);
    return listed.filter(({ whole }) => words.every(word => whole.toLowerCase().includes(word)));
  };
}

/**
 * A question that is longer than the screen, broken between its words: the library breaks where the line ends. Its
 * last line leaves so many cells free.
 */
async function wordedQuestion(question: string, columns: number, behind: number): Promise<string> {
  const style = { indent: MARK.length, measure: await createMeasure('...') };
  const lines = fold(`${MARK}${printable(question)}`, { ...style, cells: columns - 1 });
  const last = fold(lines.at(-1) ?? '', { ...style, cells: columns - 1 - behind });
  return [...lines.slice(0, -1), ...last].join('\n').slice(MARK.length);
}

/** Standard input that says first that it waits: `tell` gets one sentence before the first read of a terminal, none for a pipe or a file. */
export function typedInput(stdin: InputStream, tell: (text: string) => void) {
  let noticed = false;
  const readBytes = async (maxBytes: number) => {
    if (stdin.isTerminal && !noticed) tell('Reading from the terminal; Ctrl-D ends it.');
    noticed = true;
    return stdin.readBytes(maxBytes);
  };
  return { readBytes, readText: async (maxBytes: number) => utf8Text(await readBytes(maxBytes), 'standard input') };
}
