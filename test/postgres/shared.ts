/**
 * The one server of a test run, and a database of it for each test file. Whoever needs it first starts it, while others
 * wait; scripts/test-postgres.mjs stops it. The databases are copies of one that has the schema.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { openPostgres, type PostgresSession, type PostgresValue } from '../../src/postgres/client.ts';
import { selfSigned } from '../support/certificate.ts';
import { onceARun } from '../support/once-a-run.ts';
import { type Server, type Settings, startServer } from './server.ts';

/** Login roles that every database has: two operators, two approvers, an admin, an auditor, and one who belongs to nothing. */
export const PEOPLE = {
  ana: 'cardwright_operator',
  ben: 'cardwright_operator',
  bob: 'cardwright_approver',
  cyd: 'cardwright_approver',
  ada: 'cardwright_admin',
  eve: 'cardwright_auditor',
  out: undefined,
} as const;
export type Person = keyof typeof PEOPLE;

/** Of every login role; over the socket nobody is asked for it. */
export const PASSWORD = 'pässword of the tests';

/** Roles that the login roles belong to. */
export const SCHEMA_SQL = ['operator', 'approver', 'admin', 'auditor']
  .map(role => `create role cardwright_${role} nologin;`)
  .join('\n');

const TEMPLATE = 'with_schema';

export interface Database {
  readonly server: Server;
  readonly name: string;
  /** The connection of a role, closed with the database; `another` makes a further one. */
  as(role: Person | 'postgres', another?: 'another'): Promise<PostgresSession>;
  close(): Promise<void>;
}

export async function connect(server: Pick<Server, 'socket' | 'port'>, role: string, database: string) {
  const address = { host: server.socket, port: server.port, user: role, database };
  const password = () => Promise.reject(new Error('the socket asks for no password'));
  return openPostgres(address, { password, connectMs: 30_000, callMs: 60_000 });
}

const lettersOf = (count: number) => [...String(count)].map(digit => 'abcdefghij'[Number(digit)]).join('');

/** A new database with the schema. */
export async function database(): Promise<Database> {
  const server = await theServer();
  // Letters alone: many digits in a row may look like a card number.
  const name = `db_${lettersOf(process.pid)}_${lettersOf(process.hrtime()[1])}`;
  const opened: Promise<PostgresSession>[] = [];
  const known = new Map<string, Promise<PostgresSession>>();
  const admin = await connect(server, 'postgres', 'postgres');
  // A copy is made while nobody looks at the original; another test file may be copying.
  await admin.call(`create database ${name} template ${TEMPLATE} strategy file_copy`, []);
  await admin.end();
  return {
    server,
    name,
    as(role, another) {
      const session = (another === undefined ? known.get(role) : undefined) ?? connect(server, role, name);
      if (another === undefined) known.set(role, session);
      if (!opened.includes(session)) opened.push(session);
      return session;
    },
    close: async () => void (await Promise.all(opened.map(async session => (await session).end()))),
  };
}

let started: Promise<Server> | undefined;

function theServer(): Promise<Server> {
  started ??= startOrWait();
  return started;
}

async function startOrWait(): Promise<Server> {
  const folder = process.env['TEST_POSTGRES_FOLDER'];
  if (folder === undefined) throw new Error('scripts/test-postgres.mjs is no part of this configuration');
  return onceARun(folder, 'server', async () => withSchema(await startServer(folder, await onLoopback())));
}

/** Between the semicolons that stand in no quoted text and no comment. */
export function statementsOf(text: string): readonly string[] {
  const parts = text.match(/(?:--[^\n]*|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|[^;])+/g) ?? [];
  return parts.filter(part => part.replace(/--[^\n]*/g, '').trim() !== '');
}

/** A certificate of its own, and a port that is free now. */
async function onLoopback(): Promise<Settings> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return { port, tls: selfSigned('test/postgres') };
}

/** The certificate that the server shows. */
export const certificateOf = ({ folder }: Server) => join(folder, 'data', 'server.crt');

async function withSchema(server: Server): Promise<Server> {
  const everywhere = await connect(server, 'postgres', 'postgres');
  await everywhere.call(`create database ${TEMPLATE}`, []);
  const session = await connect(server, 'postgres', TEMPLATE);
  for (const statement of statementsOf(SCHEMA_SQL)) await session.call(statement, []);
  for (const [name, group] of Object.entries(PEOPLE)) {
    await session.call(
      `create role ${name} login password '${PASSWORD}'${group === undefined ? '' : ` in role ${group}`}`,
      [],
    );
  }
  await session.call('commit', []);
  await session.end();
  await everywhere.end();
  return server;
}

/** The first column of the first row of a function's answer, as JSON. */
export async function ask<T = Record<string, unknown>>(
  session: PostgresSession,
  text: string,
  values: readonly PostgresValue[] = [],
): Promise<T> {
  const [row] = await session.call(text, values);
  return JSON.parse(row?.[0] ?? 'null') as T;
}
