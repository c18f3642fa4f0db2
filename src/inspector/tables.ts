/** Rows, commands and words of the contract, as the build wrote them into the page, and the command or curl line that does what the page does. */
import type { PageRow, PageTables } from '../contract/sandbox/page-views.ts';
import { shellWord } from '../core/shell-quote.ts';

declare const PAGE_TABLES: PageTables;

export const TABLES: PageTables = PAGE_TABLES;

/** Throws for a row that the page may not ask: that is a fault of the page. */
export function rowOf(name: string): PageRow {
  const row = TABLES.rows[name];
  if (row === undefined) throw new Error(`no row ${name}`);
  return row;
}

export type Input = Readonly<Record<string, unknown>>;

const PROGRAM = 'cardwright';

/** The command that does the same as the row with this input. */
export function commandLine(name: string, input: Input = {}): string {
  if (name === 'scenarios.play') return scenarioLine(name, input);
  if (name === 'faults.add') return piped('sandbox faults add -', JSON.stringify(input));
  const { command } = rowOf(name);
  const words = [PROGRAM, command.words];
  for (const field of command.args) if (isGiven(input[field])) words.push(shellWord(textOf(input[field])));
  for (const [field, flag] of Object.entries(command.flags)) {
    if (!isGiven(input[field]) || isBody(name, field)) continue;
    const value = textOf(input[field]);
    if (name === 'cards' && field === 'q') words.push(searchWords(value));
    else words.push(`${flag}${/[=-]$/.test(flag) ? '' : ' '}${shellWord(value)}`);
  }
  if (name === 'simulate.settle' && input['final'] === false) words.push('--not-final');
  if (command.end !== undefined) words.push(command.end);
  const line = words.filter(word => word !== '').join(' ');
  return isBody(name, 'body') && isGiven(input['body'])
    ? piped(`${line.slice(PROGRAM.length + 1)} --body -`, textOf(input['body']))
    : line;
}

/** What is looked for is a part of a label, unless it is the last four digits, an id, or `key=value` of the metadata. */
function searchWords(text: string): string {
  if (/^\d{4}$/.test(text)) return `--where last4=${text}`;
  if (text.startsWith('card_')) return `--where ${shellWord(`id~${text}`)}`;
  if (text.includes('=')) return `--where ${shellWord(`metadata.${text.replace(/^metadata\./, '')}`)}`;
  return `--label ${shellWord(text)}`;
}

/** Without a text it is a file of the reader. */
function scenarioLine(name: string, { text }: Input): string {
  const { words } = rowOf(name).command;
  return isGiven(text) ? piped(`${words} - --yes`, textOf(text)) : `${PROGRAM} ${words} scenario.yaml --yes`;
}

const isBody = (name: string, field: string) => name === 'deliveries.send' && field === 'body';
const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';
const textOf = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value));
const piped = (words: string, text: string) => `printf %s ${shellWord(text)} | ${PROGRAM} ${words}`;

type Sent = Readonly<{ method: string; path: string; query: string | null; body: unknown; key: string | null }>;

/** The request once more. The key of the service stands in the file of the environment, never on the line. */
export function curlLine({ method, path, query, body, key }: Sent, origin: string): string {
  const headers = [
    ...(key === null ? [] : [`X-Idempotency-Key: ${key}`]),
    ...(body === null || body === undefined ? [] : ['Content-Type: application/json']),
  ];
  const words = [
    'curl -sS -H @-',
    ...headers.map(header => `-H ${shellWord(header)}`),
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(body === null || body === undefined ? [] : [`-d ${shellWord(JSON.stringify(body))}`]),
    shellWord(`${origin}${path}${query === null ? '' : `?${query}`}`),
  ];
  return `printf 'Authorization: Bearer %s\\n' "$(cat "$CARDWRIGHT_API_KEY_FILE")" | ${words.join(' ')}`;
}
