/** How a sandbox that serves other programs is shown. */
import { tells } from '../../cli/answer-fields.ts';
import type { ServerRow } from '../../cli/sandbox-servers.ts';
import type { Column } from '../../terminal/view.ts';

export const SERVER_COLUMNS: readonly Column[] = [
  { field: 'url', title: 'ADDRESS', kind: 'text', priority: 1 },
  { field: 'pid', title: 'PID', kind: 'integer', priority: 1 },
  { field: 'started_at', title: 'STARTED', kind: 'time', priority: 2 },
  { field: 'store', title: 'STORE', kind: 'text', priority: 2 },
  { field: 'api_key_file', title: 'KEY FILE', kind: 'text', priority: 2 },
];

export function serverPairs({ url, pid, store, api_key_file }: ServerRow): [string, string][] {
  return [
    ['Serving', url],
    ['Process', String(pid)],
    ['Store', store],
    [
      'Key',
      api_key_file === undefined ? 'each account has its own: cardwright sandbox account NAME' : `in ${api_key_file}`,
    ],
  ];
}

/** With these two every command, and every program that reads them, speaks to the server. */
export function serverVariables({ url, api_key_file }: ServerRow): Readonly<Record<string, string>> {
  return {
    CARDWRIGHT_BASE_URL: url,
    ...(api_key_file !== undefined && { CARDWRIGHT_API_KEY_FILE: api_key_file }),
  };
}

/** Gives a shell what `serverVariables` holds; ends with a failure where no server is started. */
export const TAKE_SERVER = 'vars=$(cardwright sandbox status -o env) && set -a && eval "$vars" && set +a';
/** Takes it away again. */
export const UNSET_SERVER = 'unset CARDWRIGHT_BASE_URL CARDWRIGHT_API_KEY_FILE';

/** A server as data. */
export const SERVER_ROW = {
  url: tells.text('Address, with the version segment.'),
  pid: tells.count('Process that serves.'),
  started_at: tells.time('When it began.'),
  store: tells.text('Path of the store it serves.'),
  api_key_file: tells.text('File that holds its key.'),
} as const;

/** A server of many accounts as data: each has a key of its own. */
export const SHARED_ROW = {
  url: SERVER_ROW.url,
  pid: SERVER_ROW.pid,
  started_at: SERVER_ROW.started_at,
  store: SERVER_ROW.store,
} as const;
