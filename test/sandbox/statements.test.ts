/**
 * Every statement of the sandbox, as it stands in its sources, is prepared on a real PostgreSQL. One that is put together
 * while it runs is seen by the suites that run it there (vitest.postgres.config.ts).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPipeline, type PostgresPipeline } from '../../src/postgres/client.ts';
import { prepareTables } from '../../src/sandbox/store/postgres/migrate.ts';
import { numbered } from '../../src/sandbox/store/postgres/types.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';

const SOURCES = join(import.meta.dirname, '..', '..', 'src', 'sandbox');
const SCHEMA = 'statements';

interface Found {
  readonly file: string;
  readonly text: string;
}

/** Texts in quotes that are statements on data. What a `${…}` stands for is looked up among the constants of the file. */
function statementsIn(file: string): readonly Found[] {
  const source = readFileSync(join(SOURCES, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const constants = new Map(
    [...source.matchAll(/const (\w+)(?:: \w+)? =\s*(`[^`]*`|'[^'\n]*'|"[^"\n]*"|[\d_]+);/g)].map(
      ([, name, value = '']) => [name, /^[`'"]/.test(value) ? value.slice(1, -1) : value.replaceAll('_', '')],
    ),
  );
  const whole = (text: string): string => {
    const put = text.replace(/\$\{(\w+)\}/g, (part, name: string) => constants.get(name) ?? part);
    return put === text ? text : whole(put);
  };
  const texts = source.match(/`[^`]*`|'[^'\n]*'|"[^"\n]*"/g) ?? [];
  return texts
    .map(text => text.slice(1, -1))
    .filter(
      text =>
        /^\s*(?:select|insert into|update|delete from|with)\s/.test(text) && /\s(?:from|into|set|values)\s/.test(text),
    )
    .map(text => ({ file, text: whole(text) }));
}

const FILES = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.ts') && !name.startsWith(join('store', 'sqlite')),
);
const FOUND = FILES.flatMap(statementsIn);
const isWhole = ({ text }: Found) => !text.includes('${');

it('finds the statements, and most of them are whole', () => {
  expect(FOUND.length).toBeGreaterThan(120);
  expect(FOUND.filter(isWhole).length / FOUND.length).toBeGreaterThan(0.75);
});

/** Statements that PostgreSQL does not take, and why it is never asked them. */
const NOT_THERE: Readonly<Record<string, string>> = {
  'checks/ledger-check.ts: select 1 from transactions t where': 'part of another statement',
  'store/meta.ts: select name from sqlite_master': 'what a file is',
  'store/meta.ts: select application, schema_number': 'what a file is',
  'store/meta.ts: insert into meta (': 'what a file is',
  'store/meta.ts: select schema_number from meta': 'what a file is',
  'store/meta.ts: update meta set schema_number': 'what a file is',
  'store/meta.ts: select user_version as generation': 'what a file is',
};

describe.skipIf(missing() !== undefined)('on PostgreSQL', () => {
  let here: Database;
  let connection: PostgresPipeline;
  beforeAll(async () => {
    here = await database();
    const address = { host: here.server.socket, port: here.server.port, user: 'postgres', database: here.name };
    const password = () => Promise.reject(new Error('the socket asks for no password'));
    connection = await openPipeline(address, { password, connectMs: 30_000, callMs: 60_000 });
    await prepareTables({ connection, schema: SCHEMA, shown: 'postgres://test', mayMigrate: true });
    await connection.send('select set_config($1, $2, false)', ['search_path', `${SCHEMA}, pg_catalog`]);
  });
  afterAll(async () => {
    await connection.end();
    await here.close();
  });

  it('each of them is a statement there, but for those that are asked of SQLite alone', async () => {
    const refused: string[] = [];
    for (const [at, { file, text }] of FOUND.filter(isWhole).entries()) {
      await connection
        .send(`prepare s${at} as ${numbered(text.replace(/:\w+/g, '?'))}`, [])
        .catch((error: Error) => refused.push(`${file}: ${text.slice(0, 60)}: ${error.message}`));
    }
    expect(refused.filter(line => !Object.keys(NOT_THERE).some(start => line.startsWith(start)))).toEqual([]);
    expect(refused).toHaveLength(Object.keys(NOT_THERE).length);
  });

  // SQLite puts what is null first, PostgreSQL last.
  it('none of them orders by a column that may be null', async () => {
    const { rows } = await connection.send(
      `select distinct cast(column_name as text) from information_schema.columns
       where table_schema = $1 and is_nullable = 'YES'`,
      [SCHEMA],
    );
    const nullable = new Set(rows.map(([name]) => name));
    const wrong = FOUND.flatMap(({ file, text }) =>
      [...text.matchAll(/\border by ([^()`$]+?)(?: limit\b|\)|$)/g)].flatMap(([, columns = '']) =>
        columns
          .split(',')
          .map(
            column =>
              column
                .trim()
                .split(/\s/)[0]
                ?.replace(/^\w+\./, '') ?? '',
          )
          .filter(column => nullable.has(column) && !text.includes(`${column} is not null`))
          .map(column => `${file}: ${column} in ${text}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

/** Where texts are compared by a pattern: `like` knows no case in SQLite, and knows it in PostgreSQL. */
const PATTERNS: Readonly<Record<string, string>> = {
  'checks/event-check.ts': 'an id as it was written',
  'checks/invariants.ts': 'a word of our own in lower case',
  'checks/origin.ts': 'a name of our own in lower case',
  'store/card-places.ts': 'words of our own in lower case',
  'store/holdings.ts': 'both sides in lower case',
  'store/ledger-pages.ts': 'an id as it was written',
};

it('every pattern has a reason why its case does not matter', () => {
  const files = FILES.filter(name => / like (?:lower\(|\?|')/.test(readFileSync(join(SOURCES, name), 'utf8')));
  expect(files.sort()).toEqual(Object.keys(PATTERNS));
});
