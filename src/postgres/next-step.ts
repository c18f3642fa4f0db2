/** What lets a connection to a database succeed that did not, for whoever may change its address, its server or its roles. */
import { shellWord } from '../core/shell-quote.ts';
import type { PostgresUrl } from './postgres-url.ts';
import { PostgresRefusal } from './refusal.ts';
import { identifier } from './sql-text.ts';

export interface Reached extends Pick<PostgresUrl, 'host' | 'port' | 'role' | 'database' | 'tls'> {
  /** The variable that names the file of the password. */
  readonly passwordFile: string;
  /** A role that every login is in; none where left out. */
  readonly group?: string | undefined;
}

/** A sentence with what to do, and the command where there is one for this machine. */
export interface NextStep {
  readonly note: string;
  readonly hint?: string;
}

const AS_ADMIN = 'As an admin of PostgreSQL:';
/** Codes of TLS for a certificate that nobody vouches for. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Undefined where nothing better is known than to try again. */
export function nextStepAfter(thrown: unknown, place: Reached): NextStep | undefined {
  return thrown instanceof PostgresRefusal ? afterRefusal(thrown, place) : afterLoss(thrown, place);
}

function afterRefusal({ code, message }: PostgresRefusal, place: Reached): NextStep | undefined {
  const { role, database, passwordFile, group } = place;
  const [roleName, databaseName] = [identifier(role), identifier(database)];
  switch (code) {
    case '28P01':
      return {
        note: `The file that ${passwordFile} names holds the password of ${role} in one line, with mode 0600.`,
        hint: `export ${passwordFile}=/absolute/path`,
      };
    case '28000':
      if (/pg_hba\.conf/.test(message))
        return { note: `${tlsFirst(place)}let it in with a line of pg_hba.conf: ${entry(place)}` };
      return { note: `${AS_ADMIN} create role ${roleName} login${group === undefined ? '' : ` in role ${group}`};` };
    case '3D000':
      return {
        note: `Look at the name in the address first: ${database}. Where there is to be such a database, as an admin of PostgreSQL: create database ${databaseName}${group === undefined ? ` owner ${roleName}` : ''};`,
      };
    case '42501':
      if (!/ for database /.test(message)) return undefined;
      return { note: `${AS_ADMIN} grant create on database ${databaseName} to ${roleName};` };
    default:
      return undefined;
  }
}

function afterLoss(thrown: unknown, { host, port }: Reached): NextStep | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const code = 'code' in thrown ? String(thrown.code) : '';
  if (/does not support SSL/.test(thrown.message)) {
    return {
      note: 'Its server offers no TLS, and this connection needs it: set ssl = on with ssl_cert_file and ssl_key_file in postgresql.conf, and restart it.',
    };
  }
  if (UNTRUSTED.has(code)) {
    return { note: 'Name the certificate that signed it at the end of the address: &sslrootcert=/absolute/path' };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { note: 'The address must name the host as the certificate does.' };
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return { note: `The host of the address is not known here: ${host}`, hint: `getent hosts ${shellWord(host)}` };
  }
  if (code === 'ECONNREFUSED' || code === 'ENOENT') {
    const where = host.startsWith('/') ? `in ${host}, port ${port}` : `at ${host}, port ${port}`;
    return {
      note: `No server listens ${where}. Start it, or look at listen_addresses, unix_socket_directories and port in its postgresql.conf.`,
    };
  }
  return undefined;
}

/** A server that lets in connections with TLS alone says the same as one that knows no entry at all. */
function tlsFirst({ host, tls }: Reached): string {
  if (host.startsWith('/') || tls !== undefined) return `${AS_ADMIN} `;
  return 'This connection has no TLS, and the server may want it: write ?sslmode=verify-full at the end of the address, and behind it &sslrootcert=/absolute/path for a certificate of an authority of your own. Where it is refused with TLS too, as an admin of PostgreSQL: ';
}

/** Over a network with TLS alone: without it everybody on the way could read along. */
function entry({ host, role, database }: Reached): string {
  return host.startsWith('/')
    ? `local ${database} ${role} scram-sha-256`
    : `hostssl ${database} ${role} samenet scram-sha-256`;
}
