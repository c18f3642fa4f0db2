/** From a presentation to bytes: which format applies, and what is written whole. */
import { CliError } from '../core/errors.ts';
import { shellQuote } from '../core/shell-quote.ts';
import type { Environment, Streams } from '../platform/host.ts';
import { machineCell, plainText } from './cells.ts';
import { printable, printableJson, printableYield } from './printable.ts';
import {
  checkNames,
  collectRows,
  type Job,
  jsonDocument,
  jsonLines,
  pick,
  rowsOf,
  valueAt,
  writeCsv,
  writeFields,
  writeIds,
  writeNdjson,
  writeTsv,
} from './rows.ts';
import { showOnScreen } from './screen-view.ts';
import type { OutputFormat, OutputSettings, Presentation } from './view.ts';

/** Formats whose lines are rows: of a document they hold its rows, of one text that text. */
const ROW_FORMATS: ReadonlySet<string> = new Set<OutputFormat>(['tsv', 'csv', 'id']);

type Form = 'screen' | 'quiet' | 'text' | 'fields' | Exclude<OutputFormat, 'table' | 'wide'>;

/**
 * Tables are for screens: off a terminal rows are TSV and one result is a line a field, unless a table was asked for
 * by name. Who names the fields gets their values alone. `-q` asks for less than a table.
 */
function formOf({ presentation, settings, streams }: Job): Form {
  const { format, quiet, byName = false } = settings;
  const tabular = format === 'table' || format === 'wide';
  if (typeof presentation.data === 'string' && (tabular || ROW_FORMATS.has(format))) return 'text';
  if (!tabular) return format;
  if (quiet) return 'quiet';
  const { data, listing, rows } = presentation;
  const isAsked = settings.fields !== undefined || settings.columns !== undefined;
  const wordsOnly = data === undefined && listing === undefined;
  if (streams.stdout.isTerminal || byName || wordsOnly) return 'screen';
  return listing !== undefined || rows !== undefined || Array.isArray(data) || isAsked ? 'tsv' : 'fields';
}

/** Rows are what lines can hold; the head of a single result that has rows stands in its document. */
function asRows(presentation: Presentation): Presentation {
  const { rows } = presentation;
  return rows === undefined ? presentation : { ...presentation, columns: rows.columns, data: rows.rows };
}

/**
 * Renders to stdout (answer) and stderr (notes, footers). Throws `usage` for an unknown name in `--fields`,
 * `--columns` or `--sort`, naming the valid ones, before any output. Names are known when a row seen so far or
 * a column has them; streaming formats look at the first rows. JSON and tables are written whole or not
 * at all. Stops quietly when stdout is closed.
 */
export async function present(
  presentation: Presentation,
  settings: OutputSettings,
  streams: Streams,
  env: Environment,
): Promise<void> {
  const whole: Job = { presentation, settings, streams, env };
  const form = formOf(whole);
  const isOfRows = ROW_FORMATS.has(form) && !(form === 'id' && hasId(presentation));
  const job = isOfRows ? { ...whole, presentation: asRows(presentation) } : whole;
  if ((form === 'tsv' || form === 'csv') && presentation.headline !== undefined) {
    await streams.stderr.write(`${printable(presentation.headline)}\n`);
  }
  if (presentation.listing?.runsOn) {
    checkNames(settings, [], presentation.columns);
    if (form === 'env') throw new CliError('usage', { message: '-o env prints one object, not the rows of a run' });
  }
  return WRITERS[form](job);
}

const WRITERS: Readonly<Record<Form, (job: Job) => Promise<void>>> = {
  screen: showOnScreen,
  text: job => writeText(job, [String(job.presentation.data)]),
  quiet: writeQuietly,
  json: job => writeDocument(job, jsonOf(job)),
  ndjson: job =>
    typeof job.presentation.data === 'string' ? writeDocument(job, value => jsonLines([value])) : writeNdjson(job),
  fields: writeFields,
  tsv: writeTsv,
  csv: writeCsv,
  id: writeIds,
  env: writeAssignments,
};

async function writeText({ streams }: Job, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await streams.stdout.write(lines.map(line => `${printable(line)}\n`).join(''));
}

async function writeQuietly(job: Job): Promise<void> {
  const { quiet, listing } = job.presentation;
  if (quiet !== undefined) return writeText(job, quiet);
  // Of a result without an id its rows are told, as a statement's lines.
  const ofRows = hasId(job.presentation) ? job : { ...job, presentation: asRows(job.presentation) };
  if (listing !== undefined || hasId(ofRows.presentation)) return writeIds(ofRows);
  // A result without any id, such as the wallet, is itself the requested data.
  return job.streams.stdout.isTerminal ? showOnScreen(job) : writeTsv(ofRows);
}

function hasId({ data, idField = 'id' }: Presentation): boolean {
  const [first] = rowsOf(data);
  return first !== undefined && plainText(valueAt(first, idField)) !== '';
}

type DocumentText = (value: unknown) => string | Promise<string>;

/** What an expression yields is raw in a pipe, as from jq: who asked for a string by name gets its characters. */
function jsonOf({ settings: { jq }, streams }: Job): DocumentText {
  if (jq === undefined) return jsonDocument;
  return async value => (streams.stdout.isTerminal ? printableYield(await jq(value)) : jq(value));
}

/** A list is `{data, page}`, everything else the bare resource. */
async function writeDocument(job: Job, text: DocumentText): Promise<void> {
  const { data, listing } = job.presentation;
  const { fields, sort } = job.settings;
  const rows = await collectRows(job);
  const kept = fields === undefined ? rows : rows.map(row => pick(row, fields));
  const whole = () => {
    if (typeof data === 'string') return data;
    // Rows stand in for the data only where they differ, so that an array of scalars stays one.
    if (Array.isArray(data)) return fields === undefined && sort === undefined ? data : kept;
    return kept[0] ?? {};
  };
  await job.streams.stdout.write(await text(listing === undefined ? whole() : { data: kept, page: listing.page() }));
}

// One object as shell assignments, for `eval "$(… -o env)"`.

/**
 * Names a shell, a loader or a common program acts upon. The service may send fields we do not know; none of
 * them may become one of these variables by being evaluated.
 */
const ACTED_UPON =
  /^(?:PATH|IFS|ENV|HOME|PWD|OLDPWD|SHELL|SHELLOPTS|CDPATH|FPATH|MANPATH|TMPDIR|TERM|LANG|EDITOR|VISUAL|PAGER|PS\d|PROMPT\w*|RPROMPT|HISTFILE|MAIL\w*|OPTIND|UID|EUID|PPID|ZDOTDIR|FCEDIT|LC_\w*|LD_\w*|DYLD_\w*|BASH\w*|ZSH\w*|GIT_\w*|SSH_\w*|NODE_\w*|NPM_\w*|PYTHON\w*|PERL\w*|RUBY\w*|JAVA_\w*|OPENSSL_\w*|SSL_\w*|CURL_\w*|XDG_\w*|CARDWRIGHT_\w*|\w*_PROXY)$/;

/** `spending_limit` and `spendingLimit` give `SPENDING_LIMIT`; other characters become `_`. */
function shellName(field: string): string {
  const name = field
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

const assignment = (name: string, value: string) => `${name}=${shellQuote(value)}\n`;

/**
 * `NAME='value'` a line: the fields that have columns first, then the unknown ones; with `--fields` exactly those. Lists and objects
 * are JSON text, absent values empty. Left out is a field whose name the shell acts upon, or an earlier one has.
 */
async function writeAssignments(job: Job): Promise<void> {
  const { presentation, settings, streams } = job;
  const { columns, data, noun, variables } = presentation;
  if (variables !== undefined) {
    const lines = Object.entries(variables()).map(([name, value]) => assignment(name, value));
    return streams.stdout.write(lines.join(''));
  }
  const rows = await collectRows(job);
  if (rows.length > 1 || typeof data === 'string') {
    const found = rows.length > 1 ? `there are ${rows.length}` : 'this is plain text';
    throw new CliError('usage', { message: `-o env prints the fields of one ${noun}; ${found}` });
  }
  const [row] = rows;
  if (row === undefined) return;
  const known = new Set(columns.map(column => column.field));
  const own = [...known].filter(field => valueAt(row, field) !== undefined);
  const fields = settings.fields ?? [...own, ...Object.keys(row).filter(field => !known.has(field))];
  const lines = new Map<string, string>();
  const leftOut: string[] = [];
  for (const field of fields) {
    const name = shellName(field);
    if (lines.has(name) || (!known.has(field) && ACTED_UPON.test(name))) {
      leftOut.push(field);
      continue;
    }
    const column = columns.find(each => each.field === field);
    const value = valueAt(row, field);
    const isCell = column !== undefined && typeof value !== 'object';
    const json = () => (typeof value === 'string' ? value : printableJson(plainText(value)));
    const text = isCell ? machineCell(column, value) : json();
    lines.set(name, assignment(name, streams.stdout.isTerminal ? printable(text) : text));
  }
  if (leftOut.length > 0) {
    const names = printable(leftOut.join(', '));
    await streams.stderr.write(
      `left out of -o env, because the name is taken or means something to shells: ${names}\n`,
    );
  }
  await streams.stdout.write([...lines.values()].join(''));
}
