import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { SHORT_IDS_READ } from '../../cli/short-ids.ts';
import { OUTPUT_FORMATS, type OutputFormat } from '../../terminal/view.ts';
import { showTopic } from './topic.ts';

const MEANS: Readonly<Record<OutputFormat, string>> = {
  table:
    'for people. In a pipe a list becomes tsv, a single result one field a line (field, tab, value), and a report its rows, unless you give -o table',
  wide: 'a table with as many columns as fit, and full times',
  json: 'one document: a list is {"data": [...], "page": {...}}, everything else the bare resource',
  ndjson: 'one object a line, written as rows arrive',
  csv: 'a header and one row a line. A cell that looks like a formula gets a leading apostrophe, and control characters are escaped (--csv-raw: neither)',
  tsv: 'no header, tabs between cells; tabs, newlines and other control characters in a value are escaped',
  yaml: 'the same document as json',
  env: 'NAME=value lines of one object, quoted for a shell',
  id: 'one id a line, for xargs',
};

/** The formats and the streams. */
export const helpOutput = command({
  path: 'help output',
  summary: 'Output formats, and what goes to which stream',
  answers: { list: { format: tells.text('Format.'), means: tells.text('What it means.') } },
  examples: [
    { does: 'As a page', run: 'help output' },
    { does: 'As data', run: 'help output --json' },
  ],
  run: async () => OUTPUT_FORMATS.map(format => ({ format, means: MEANS[format] })),
  show: rows =>
    showTopic({
      noun: 'format',
      fields: ['format', 'means'],
      rows,
      before: ['Choose with -o, --output or CARDWRIGHT_OUTPUT; --json is -o json.'],
      list: rows.map(({ format, means }) => [format, means]),
      after: [
        'Standard output holds the answer and nothing else. Prompts, warnings, hints and errors go to standard error.',
        'Control and direction characters in texts of the service are escaped in every format, in a pipe too. Only --csv-raw, env and --jq print them unchanged, and only in a pipe.',
        SHORT_IDS_READ,
        '--jq filters the JSON with a jq expression, once, over all pages that were read. Strings are printed without quotes. A wrong expression is exit 2, and nothing is sent.',
        '--fields keeps some fields of json, ndjson, yaml, csv, tsv and env. --columns and --sort set columns and order of a table. -q prints only the requested data: for a new card its id.',
        'With json, ndjson and yaml an error is one JSON object on the last line of standard error, and no question is asked.',
        'Amounts are USD: JSON numbers, or plain decimals such as 1234.50 in tsv and csv. Times are ISO 8601 in UTC. Neither depends on the locale.',
      ],
    }),
});
