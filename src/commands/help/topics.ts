/** The topics of `help`. */

import { EMPTY_VARIABLES, GLOBALS } from '../../app/globals.ts';
import { ENVIRONMENT } from '../../cli/docs/environment.ts';
import { hang, wrap } from '../../cli/docs/help.ts';
import { SHORT_IDS_CHANGE, SHORT_IDS_READ } from '../../cli/ids.ts';
import { rowsListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Command } from '../../cli/parsing/declaration.ts';
import { orNull, tells } from '../../cli/parsing/flag.ts';
import type { AnyField } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import { STEP_OPERATIONS } from '../../contract/sandbox/methods.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import {
  KEY_TEXT_BYTES,
  LONGEST_LINE,
  RAW_BODY_BYTES,
  RAW_PATH_CHARACTERS,
  ROWS_BYTES,
  SCENARIO_STEPS,
  sizeText,
  WHOLE_INPUT_BYTES,
} from '../../core/input-limits.ts';
import { EXAMPLES, PURCHASE } from '../../scenario/examples.ts';
import type { OutputFormat } from '../../terminal/view.ts';
import { FREEZING_ASKS } from '../../writes/guard.ts';

/** A topic of `help`: rows for a named format, and a page of 80 columns to read. */
interface Topic<Row extends object> {
  readonly path: string;
  readonly summary: string;
  /** What one row is. */
  readonly noun: string;
  /** Fields of a row, the first of them its id. */
  readonly fields: { readonly [Name in keyof Row]: AnyField };
  readonly rows: () => readonly Row[];
  /** A row of the page. */
  readonly line: (row: Row) => readonly [term: string, means: string];
  /** Paragraphs around the list, and an example as it is written. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
  readonly example?: string;
}

function topic<Row extends object>({ path, summary, noun, fields, rows, line, ...page }: Topic<Row>): Command {
  const { before = [], after = [], example } = page;
  const prose = (found: readonly Row[]) => {
    const list = found.map(line);
    const width = Math.max(...list.map(([term]) => term.length)) + 2;
    const items = list.map(([term, means]) => hang(term.padEnd(width), means)).join('');
    return [...before.map(wrap), items, ...after.map(wrap), ...(example === undefined ? [] : [example])].join('\n');
  };
  return command({
    path,
    summary,
    answers: { list: fields },
    examples: {
      'As a page': path,
    },
    run: async () => rows(),
    show: found => ({
      noun,
      idField: Object.keys(fields)[0] ?? 'name',
      columns: Object.keys(fields).map(field => ({ field, title: field.toUpperCase(), kind: 'text', priority: 1 })),
      listing: rowsListing(found),
      prose: prose(found),
    }),
  });
}

export const helpOptions = topic({
  path: 'help options',
  summary: 'The options every command takes',
  noun: 'option',
  fields: {
    option: tells.text('Option.'),
    variable: orNull(tells.text('Variable that says the same.')),
    means: tells.text('What it means.'),
  },
  rows: () =>
    GLOBALS.map(({ name, short, value, means, env }) => ({
      option: `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
      variable: env ?? null,
      means,
    })),
  line: ({ option, variable, means }) => [option, variable === null ? means : `${means} (${variable})`],
  before: ['They stand before or after the words of the command.'],
});

export const helpEnvironment = topic({
  path: 'help environment',
  summary: 'Environment variables and what they mean',
  noun: 'variable',
  fields: {
    name: tells.text('Variable.'),
    option: orNull(tells.text('Option that says the same.')),
    means: tells.text('What it means.'),
  },
  rows: () => ENVIRONMENT,
  line: ({ name, option, means }) => [name, option === null ? means : `${means} (${option})`],
  before: [
    `An option on the command line wins over its variable. ${EMPTY_VARIABLES} Any other empty variable counts as not set.`,
  ],
});

const ENDS = Object.entries(ERROR_KINDS).map(([kind, { exit, means, ...more }]) => ({
  exit: exit as number,
  kind,
  means: means as string,
  retryable: 'retryable' in more,
}));
const REPEATABLE = ENDS.filter(({ retryable }) => retryable).map(({ exit }) => exit);

export const helpExitCodes = topic({
  path: 'help exit-codes',
  summary: 'Exit codes, what each means, and what a script may do next',
  noun: 'exit code',
  fields: {
    exit: tells.count('Exit code.'),
    kind: tells.text('Kind of failure.'),
    means: tells.text('What it means.'),
    retryable: tells.yes('Whether a script may repeat.'),
  },
  rows: () => [{ exit: 0, kind: 'done', means: 'Done; also an empty list.', retryable: false }, ...ENDS],
  line: ({ exit, kind, means }) => [`${String(exit).padStart(3)}  ${kind}`, means],
  after: [
    `A script may repeat the same command on ${REPEATABLE.join(' and ')}. It must never blindly repeat on ${ERROR_KINDS.outcome_unknown.exit}: the first attempt may have happened.`,
  ],
});

/** What each word of a topic means. */
type Words = Readonly<Record<string, string>>;

function wordTopic<Key extends string>(
  noun: string,
  key: Key,
  words: Words,
  page: Omit<Topic<Record<Key | 'means', string>>, 'noun' | 'fields' | 'rows' | 'line'>,
): Command {
  return topic<Record<string, string>>({
    ...page,
    noun,
    fields: { [key]: tells.text('Word.'), means: tells.text('What it means.') },
    rows: () => Object.entries(words).map(([word, means]) => ({ [key]: word, means })),
    line: row => [row[key] ?? '', row['means'] ?? ''],
  });
}

const MEANS: Readonly<Record<OutputFormat, string>> = {
  table:
    'for people. In a pipe a list becomes tsv, a single result one field a line (field, tab, value), and a report its rows, unless you give -o table',
  wide: 'a table with as many columns as fit, and full times',
  json: 'one document: a list is {"data": [...], "page": {...}}, everything else the bare resource',
  ndjson: 'one object a line, written as rows arrive',
  csv: 'a header and one row a line. A cell that looks like a formula gets a leading apostrophe, and control characters are escaped (--csv-raw: neither)',
  tsv: 'no header, tabs between cells; tabs, newlines and other control characters in a value are escaped',
  env: 'NAME=value lines of one object, quoted for a shell',
  id: 'one id a line, for xargs',
};

export const helpOutput = wordTopic('format', 'format', MEANS, {
  path: 'help output',
  summary: 'Output formats, and what goes to which stream',
  before: ['Choose with -o, --output or CARDWRIGHT_OUTPUT; --json is -o json.'],
  after: [
    'Standard output holds the answer and nothing else. Prompts, warnings, hints and errors go to standard error.',
    'Control and direction characters in texts of the service are escaped in every format, in a pipe too. Only --csv-raw, env and --jq print them unchanged, and only in a pipe.',
    SHORT_IDS_READ,
    '--jq filters the JSON with a jq expression, once, over all pages that were read. Strings are printed without quotes. A wrong expression is exit 2, and nothing is sent.',
    '--fields keeps some fields of json, ndjson, csv, tsv and env. --columns and --sort set columns and order of a table. -q prints only the requested data: for a new card its id.',
    'With json and ndjson an error is one JSON object on the last line of standard error, and no question is asked.',
    'Amounts are USD: JSON numbers, or plain decimals such as 1234.50 in tsv and csv. Times are ISO 8601 in UTC. Neither depends on the locale.',
  ],
});

const RULES: Words = {
  keys: 'No option takes an API key, a card number, a CVV or a signing secret, because other users could see it in the process list. Use the environment, a file, standard input or a prompt.',
  origin: 'A stored key is sent only to its own address. Redirects are never followed.',
  'look first': '--dry-run shows method, path, body and idempotency key of a write and sends nothing.',
  confirm:
    'Terminating asks for the last four digits of the card, or for the number of cards. --yes answers for you. Questions are asked only at a terminal; a piped y is not an answer.',
  'short ids': SHORT_IDS_CHANGE,
  live: `With a live key a write asks first. In a script it needs --yes and --live <profile>; otherwise it is exit 14, and nothing is sent. ${FREEZING_ASKS}`,
  'test only': 'CARDWRIGHT_TEST_ONLY=1 refuses every live key.',
  'read only': 'cardwright profiles set <profile> read_only true refuses every write.',
  reveal:
    'Only cards details shows number and CVV, after you type the last four digits, on a separate screen. In a script it needs --reveal and --print or --out. cards exec passes them to one program and prints nothing. At most 30 a minute, and none under a debugger.',
  audit:
    'Every write and reveal is recorded in a local, hash-chained log without card data or keys: cardwright audit list, verify, export.',
  repeating:
    'A killed command is refused when you run it again, because it could happen twice. The error names the cardwright ops resume that finishes it. For rows of a file this holds in any order and format, even with --again; after the run has finished, rows need --again for a day.',
  unknown:
    'Exit 11 means: sent, but no trustworthy answer came. Find out what happened before you repeat: a second run could move money twice.',
};

export const helpSafety = wordTopic('rule', 'rule', RULES, {
  path: 'help safety',
  summary: 'Guards and confirmations, and what is never done',
});

const ADVICE: Words = {
  who: 'A script must choose where to send requests: give --sandbox or --profile, or set CARDWRIGHT_API_KEY and CARDWRIGHT_BASE_URL. Or choose once for the whole user: cardwright profiles use sandbox, or the name of another profile.',
  data: 'Every command has --json. Names of fields, flags and exit codes are a promise; the wording of texts is not.',
  ids: '-q prints the new id, -o id one id a line. Commands on several cards also read ids from standard input (-), one id a line; none at all is exit 0 with a line on standard error, as with --where and --idle. A file without rows is exit 2. --file also takes a list of cards, or the result of a run, as -o csv or -o ndjson printed it.',
  questions:
    'No question is asked with --no-input, with a machine format, with CI set or without a terminal. A missing value is then exit 2; a missing confirmation is exit 3 unless you give --yes.',
  errors:
    'With --json the last line of standard error is {"error": {...}} with kind, message, exit_code, retryable and outcome: not_sent, refused, unknown or done.',
  repeating:
    'Repeat on 7 and 12. On 11 find out first what happened. With --intent NAME a command may be repeated as it is: one purchase, one intent, also when repeated.',
  'all pages': 'Lists print one page. --all reads every page, --limit as many pages as it needs.',
  limits: `Rows: ${sizeText(ROWS_BYTES)}. A line or a field of a row: ${LONGEST_LINE.toLocaleString('en-US')} characters. Every other file and standard input: ${sizeText(WHOLE_INPUT_BYTES)}. The body of api: ${sizeText(RAW_BODY_BYTES)}; its path with the query: ${RAW_PATH_CHARACTERS.toLocaleString('en-US')} characters. An id: ${LIMITS.idLength.max} characters. A key in a file or from a program: ${sizeText(KEY_TEXT_BYTES)}. A scenario: ${SCENARIO_STEPS.toLocaleString('en-US')} steps.`,
  'the tree':
    'cardwright commands --json lists every command with options, choices, effect, examples and exit codes; cardwright schema <command> is the JSON Schema of its answer; cardwright explain <code> says what to do next.',
};

export const helpScripting = wordTopic('advice', 'topic', ADVICE, {
  path: 'help scripting',
  summary: 'What scripts, CI and agents can rely on',
});

const WORDS: Words = {
  scenario: 'Title of the scenario, at the top of the file, beside about and steps.',
  steps: `A list of at most ${SCENARIO_STEPS.toLocaleString('en-US')}, executed in order. A step is one operation with its fields as a map, or without fields.`,
  as: 'Saves the answer of the step under a name, for later steps.',
  '$name.field': 'A value of a saved answer, in place of any value: $card.id, $bins.data.0.id. $$ is a plain $.',
  expect: 'What the answer must contain. Only the named members are compared, at any depth; lists entry by entry.',
  fails: 'The error that the step must be refused with, such as insufficient_funds.',
  note: 'A comment.',
};

export const helpScenarios = wordTopic('word', 'word', WORDS, {
  path: 'help scenarios',
  summary: 'The format of scenario files',
  before: [
    'A scenario is a YAML file with steps for the sandbox and their expected results. cardwright sandbox simulate run <file> first checks the whole file (an error is exit 2, with line and column) and then runs it. The first step with another result than expected is exit 15.',
  ],
  after: [`Operations, with the fields of their commands: ${[...STEP_OPERATIONS.keys()].join(', ')}.`],
  example: `${Object.keys(EXAMPLES)[0]}:\n\n${PURCHASE.replace(/^(?=.)/gm, '  ')}`,
});
