import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { SHORT_IDS_READ } from '../../cli/short-ids.ts';
import { OUTPUT_FORMATS, type OutputFormat } from '../../terminal/view.ts';
import { showTopic } from './topic.ts';

const MEANS: Readonly<Record<OutputFormat, string>> = {
  table:
    'for people; off a terminal rows are tsv, one result is a line a field (field, tab, value), and a table only when -o table names it',
  wide: 'a table with every column there is room for and full times',
  json: 'one document: a list is {"data": [...], "page": {...}}, everything else the bare resource',
  ndjson: 'one object a line, written as rows arrive',
  csv: 'a header and one row a line; a cell that begins like a formula gets a leading apostrophe, control characters are escapes (--csv-raw: neither)',
  tsv: 'no header, tabs between cells; tab, newline and other control characters in a value are escapes',
  yaml: 'the same document as json',
  env: 'NAME=value lines of one object, quoted for a shell',
  id: 'one id a line, for xargs',
};

/** The formats and the streams. */
export const helpOutput = command({
  path: 'help output',
  summary: 'Formats of the answer, and what goes to which stream',
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
        'Standard output carries the answer and nothing else. Prompts, warnings, hints and errors go to standard error.',
        'Control and direction characters of the service are escapes in every format, in a pipe too. As they are they come from --csv-raw, env and --jq, off a terminal.',
        SHORT_IDS_READ,
        '--jq filters the JSON with an expression of jq, once, over all pages that were read; strings come out raw. One that cannot be read is exit 2, and nothing is sent.',
        '--fields keeps some fields of json, ndjson, yaml, csv, tsv and env. --columns and --sort lay out a table. -q prints the requested data alone: for a new card its id.',
        'With json, ndjson and yaml an error is one JSON object, the last line of standard error, and nothing is ever asked.',
        'Amounts are JSON numbers of USD, in tsv and csv plain decimals such as 1234.50. Times are ISO 8601 in UTC. Neither depends on the locale.',
      ],
    }),
});
