import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { LIMITS } from '../../contract/limits.ts';
import {
  KEY_TEXT_BYTES,
  LONGEST_LINE,
  PIPED_ROWS_BYTES,
  RAW_BODY_BYTES,
  RAW_PATH_CHARACTERS,
  SCENARIO_STEPS,
  sizeText,
  WHOLE_INPUT_BYTES,
} from '../../core/input-limits.ts';
import { showTopic } from './topic.ts';

const ADVICE = [
  {
    topic: 'who',
    means:
      'A script must choose where to send requests: give --sandbox or --profile, or set CARDWRIGHT_API_KEY and CARDWRIGHT_BASE_URL. Or choose once for the whole user: cardwright profiles use sandbox, or the name of another profile.',
  },
  {
    topic: 'data',
    means:
      'Every command has --json. Names of fields, flags and exit codes are a promise; the wording of texts is not.',
  },
  {
    topic: 'ids',
    means:
      '-q prints the new id, -o id one id a line. Commands on several cards also read ids from standard input (-), one id a line; none at all is exit 0 with a line on standard error, as with --where and --idle. A file without rows is exit 2. --file also takes a list of cards, or the result of a run, as -o csv or -o ndjson printed it.',
  },
  {
    topic: 'questions',
    means:
      'No question is asked with --no-input, with a machine format, with CI set or without a terminal. A missing value is then exit 2; a missing confirmation is exit 3 unless you give --yes.',
  },
  {
    topic: 'errors',
    means:
      'With --json the last line of standard error is {"error": {...}} with kind, message, exit_code, retryable and outcome: not_sent, refused, unknown or done.',
  },
  {
    topic: 'repeating',
    means:
      'Repeat on 7 and 12. On 11 find out first what happened. With --intent NAME a command may be repeated as it is: one purchase, one intent, also when repeated.',
  },
  {
    topic: 'all pages',
    means: 'Lists print one page. --all reads every page, --limit as many pages as it needs.',
  },
  {
    topic: 'limits',
    means: `Rows through a pipe: ${sizeText(PIPED_ROWS_BYTES)}; a file of rows has no limit. A line or a field of a row: ${LONGEST_LINE.toLocaleString('en-US')} characters. Every other file and standard input: ${sizeText(WHOLE_INPUT_BYTES)}. The body of api: ${sizeText(RAW_BODY_BYTES)}; its path with the query: ${RAW_PATH_CHARACTERS.toLocaleString('en-US')} characters. An id: ${LIMITS.idLength.max} characters. A key in a file or from a program: ${sizeText(KEY_TEXT_BYTES)}. A scenario: ${SCENARIO_STEPS.toLocaleString('en-US')} steps.`,
  },
  {
    topic: 'the tree',
    means:
      'cardwright commands --json lists every command with options, choices, effect, examples and exit codes; cardwright schema <command> is the JSON Schema of its answer; cardwright explain <code> says what to do next.',
  },
] as const;

/** What a program that runs this one should know. */
export const helpScripting = command({
  path: 'help scripting',
  summary: 'What scripts, CI and agents can rely on',
  answers: { list: { topic: tells.text('Topic.'), means: tells.text('What you can rely on.') } },
  examples: [
    { does: 'As a page', run: 'help scripting' },
    { does: 'As data', run: 'help scripting --json' },
  ],
  run: async () => ADVICE,
  show: rows =>
    showTopic({
      noun: 'advice',
      fields: ['topic', 'means'],
      rows,
      list: rows.map(({ topic, means }) => [topic, means]),
    }),
});
