/**
 * One connection to PostgreSQL, with a password for SCRAM alone: a statement a call, or statements one behind the other
 * without waiting for each answer.
 */
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
// @ts-expect-error The package has types for its root alone, and that brings a pool along.
import PgClient from 'pg/lib/client.js';
import { PostgresRefusal, UnsafeLogin } from './refusal.ts';

/** Where a server is and who asks. */
export interface PostgresAddress {
  /** Name, address, or the absolute folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Verified in full; undefined for a socket or an address of this machine. */
  readonly tls?: PostgresTls | undefined;
}

/** PEM texts. */
export interface PostgresTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface PostgresWays {
  /** Asked when the server wants SCRAM, and for nothing else; what it throws ends the connection. */
  readonly password: () => Promise<string>;
  /** From the first packet to the answer of the login, ms. */
  readonly connectMs: number;
  /** Of one call, ms. */
  readonly callMs: number;
}

/** A list of texts is an array of text. */
export type PostgresValue = string | number | boolean | Uint8Array | null | readonly string[];
/** Columns in their order, as PostgreSQL writes them. */
export type PostgresRow = readonly (string | null)[];

export interface PostgresSession {
  /**
   * Sends one statement as one transaction, with the extended protocol and without a name, so that it passes pgbouncer
   * in transaction mode. Rejects with `PostgresRefusal` for an answer of the server, with another error when the
   * connection was lost: then it may have been carried out.
   */
  call(text: string, values: readonly PostgresValue[]): Promise<readonly PostgresRow[]>;
  /** Closes the connection; calls that wait are rejected. */
  end(): Promise<void>;
  /** Whether more calls may be made. */
  readonly alive: boolean;
}

/** What the server answered to one statement. */
export interface PostgresAnswer {
  /** `type` is the number of the type, as `pg_type.oid` has it. */
  readonly columns: readonly { readonly name: string; readonly type: number }[];
  readonly rows: readonly PostgresRow[];
  /** Rows that were changed, or told. */
  readonly count: number;
  /** `INSERT`, `COMMIT`; a COMMIT of a transaction that failed is `ROLLBACK`. */
  readonly command: string;
}

export interface PostgresPipeline {
  /**
   * Sends a statement at once, behind those before it. Those with a `name` are parsed once a connection. Rejects with
   * `PostgresRefusal` for an answer of the server, with another error when the connection was lost: then it may have
   * been carried out.
   */
  send(text: string, values: readonly PostgresValue[], name?: string): Promise<PostgresAnswer>;
  /** Closes the connection; statements without an answer are rejected. */
  end(): Promise<void>;
  readonly alive: boolean;
}

const TYPES = { getTypeParser: () => (text: string) => text };
const APPLICATION = 'cardwright';

/** Connects and logs in. Nothing is read from `PG…` variables or from `.pgpass`. */
export async function openPostgres(address: PostgresAddress, ways: PostgresWays): Promise<PostgresSession> {
  const { client, loss } = await connected(clientFor(address, ways));
  let before: Promise<unknown> = Promise.resolve();
  return {
    get alive() {
      return loss.why === undefined;
    },
    call(text, values) {
      const answer = before
        .then(() => callAlone(client, text, values))
        .catch((thrown: unknown) => {
          if (!(thrown instanceof PostgresRefusal)) loss.why ??= thrown;
          throw thrown;
        });
      before = answer.catch(() => undefined);
      return answer;
    },
    async end() {
      loss.why ??= new Error('the connection was closed');
      await client.end();
    },
  };
}

/** The same, for statements that follow one another without waiting. */
export async function openPipeline(address: PostgresAddress, ways: PostgresWays): Promise<PostgresPipeline> {
  const { client, loss } = await connected(clientFor(address, { ...ways, isPipeline: true }));
  return {
    get alive() {
      return loss.why === undefined;
    },
    async send(text, values, name) {
      const query = { text, values: [...values], rowMode: 'array', queryMode: 'extended', name } as const;
      try {
        inOnePacket(client.connection.stream);
        const { fields, rows, rowCount, command } = await client.query<(string | null)[]>(query);
        const columns = fields.map(field => ({ name: field.name, type: field.dataTypeID }));
        return { columns, rows, count: rowCount ?? 0, command };
      } catch (thrown) {
        const refusal = asRefusal(thrown);
        if (!(refusal instanceof PostgresRefusal)) {
          loss.why ??= thrown;
          client.connection.stream.destroy();
        }
        throw refusal;
      }
    },
    async end() {
      loss.why ??= new Error('the connection was closed');
      await client.end();
    },
  };
}

/** Statements that are sent one behind the other without a wait leave in one packet. */
function inOnePacket(stream: Client['connection']['stream']): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  queueMicrotask(() => stream.uncork());
}

/** Why a connection cannot be used any more. */
interface Loss {
  why: unknown;
}

/** Logs in, and notices from then on when the connection is lost. */
async function connected(client: Client): Promise<{ readonly client: Client; readonly loss: Loss }> {
  const loss: Loss = { why: undefined };
  let unsafe: UnsafeLogin | undefined;
  onUnsafeLogin(client, why => {
    unsafe ??= why;
    client.connection.stream.destroy(why);
  });
  // Without a listener a connection that ends while nobody waits would end the program.
  client.on('error', (error: unknown) => {
    loss.why ??= error;
  });
  try {
    await client.connect();
    // Its next message may have come in the same packet.
    if (unsafe !== undefined) throw unsafe;
  } catch (thrown) {
    client.connection.stream.destroy();
    throw asRefusal(thrown);
  }
  client.on('end', () => {
    loss.why ??= new Error('the connection has ended');
  });
  return { client, loss };
}

/** One after the other: the time of a call is counted from when it is sent. */
async function callAlone(
  client: Client,
  text: string,
  values: readonly PostgresValue[],
): Promise<readonly PostgresRow[]> {
  try {
    const query = { text, values: [...values], rowMode: 'array', queryMode: 'extended' } as const;
    return (await client.query<(string | null)[]>(query)).rows;
  } catch (thrown) {
    const refusal = asRefusal(thrown);
    // An answer that is late may still come, and would be taken for that of the next call.
    if (!(refusal instanceof PostgresRefusal)) client.connection.stream.destroy();
    throw refusal;
  }
}

/** What we use of a client besides its types. */
interface Client extends pg.Client {
  readonly connection: pg.Connection & { readonly stream: Socket };
  readonly connectionParameters: Record<string, unknown>;
  replication: unknown;
  readonly saslSession: unknown;
}

function clientFor(address: PostgresAddress, ways: PostgresWays & { readonly isPipeline?: boolean }): Client {
  const { host, port, user, database, tls } = address;
  const client: Client = new PgClient({
    host,
    port,
    user,
    database,
    application_name: APPLICATION,
    sslnegotiation: 'postgres',
    ssl: tls === undefined ? false : verified(tls),
    enableChannelBinding: tls !== undefined,
    connectionTimeoutMillis: ways.connectMs,
    query_timeout: ways.callMs,
    types: TYPES,
    pipeline: ways.isPipeline,
    keepAlive: ways.isPipeline,
    password: ways.password,
  });
  // What the package takes from PGOPTIONS and its like.
  for (const name of ['options', 'replication', 'binary', 'client_encoding'])
    client.connectionParameters[name] = undefined;
  client.replication = undefined;
  return client;
}

/** Before the package's own listeners, which would answer: the stream is gone when they do. */
function onUnsafeLogin(client: Client, tell: (why: UnsafeLogin) => void): void {
  const asks = (how: string) => () =>
    tell(new UnsafeLogin(`the server asks for the password ${how}; only SCRAM is answered`));
  const { connection } = client;
  connection.on('authenticationCleartextPassword', asks('in clear text'));
  connection.on('authenticationMD5Password', asks('by md5'));
  connection.on('authenticationOk', () => {
    const isHalf = client.saslSession !== undefined && client.saslSession !== null;
    if (isHalf) tell(new UnsafeLogin('the server did not show that it knows the password'));
  });
}

/** Whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
function verified({ ca, cert, key }: PostgresTls): ConnectionOptions {
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

function asRefusal(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('severity' in thrown) || !('code' in thrown)) return thrown;
  const detail = 'detail' in thrown && typeof thrown.detail === 'string' ? thrown.detail : undefined;
  return new PostgresRefusal(String(thrown.code), thrown.message, detail);
}
