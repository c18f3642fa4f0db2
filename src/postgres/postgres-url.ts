/** The address of a database: what it may say, and how it is shown. */
import { CliError } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';

/** A checked address. */
export interface PostgresUrl {
  /** Without password and parameters; for messages. */
  readonly shown: string;
  /** Name, address, or the absolute folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly role: string;
  readonly database: string;
  readonly password: Secret | undefined;
  /** Absolute paths of PEM files; undefined for a socket, and for this machine where nothing else is asked. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  /** Statements may be named, which a pooler in transaction mode does not take. */
  readonly mayPrepare: boolean;
}

/** What the database is for, in messages, and what of an address belongs to it alone. */
export interface UrlPurpose {
  /** `shared journal` */
  readonly what: string;
  readonly hint: string;
  /** Where a password has its place. */
  readonly passwordHint: string;
  /** `prepare=yes` is known. */
  readonly knowsPrepare?: boolean;
}

/** Where it was read: a command line is seen by everybody on the machine, and the text of a program by all who read it. */
export type UrlSource = keyof typeof NO_PASSWORD | 'environment' | 'file';

const NO_PASSWORD = {
  flag: 'no password: the command line is seen by everybody on this machine',
  program: 'no password: journalPasswordFile names a file that holds it',
} as const;

const SHAPE =
  /^postgres(?:ql)?:\/\/([^:@/?#]+)(?::([^@/?#]*))?@(\[[0-9a-f:.]+\]|[^:@/?#[\]]+)(?::(\d{1,5}))?\/([^/?#]+)(?:\?([^#]*))?$/i;
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'prepare'] as const;
const DEFAULT_PORT = 5432;
const FORM = 'postgres://role@host:port/database?sslmode=verify-full&sslrootcert=/absolute/path';
/** Other programs take the folder and the port as parameters. */
const SOCKET_FORM = 'over a Unix socket it is postgres://role@%2Frun%2Fpostgresql:5432/database';

/**
 * Reads an address. Throws `usage` naming the broken rule, `guarded` for a connection that would not be verified. The
 * text itself is not repeated: it may hold a password.
 */
export function parsePostgresUrl(text: string, source: UrlSource, purpose: UrlPurpose): PostgresUrl {
  const broken = (rule: string, hint?: string) => brokenRule(purpose, rule, hint);
  const [whole, role, password, host, port, database, query] = SHAPE.exec(text) ?? [];
  if (whole === undefined || !/^[\x21-\x7e]+$/.test(text)) throw broken(`it has the form ${FORM}; ${SOCKET_FORM}`);
  const read = (part?: string) => decoded(part, broken);
  const parts = { role: read(role), host: read(host), database: read(database) };
  if (/[,\s]/.test(parts.host)) throw broken('it names one host');
  if (password !== undefined && source in NO_PASSWORD) {
    throw broken(NO_PASSWORD[source as keyof typeof NO_PASSWORD], purpose.passwordHint);
  }
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (number < 1 || number > 65_535) throw broken('the port is from 1 to 65535');
  const isSocket = parts.host.startsWith('/');
  const shown = `postgres://${role}@${host}:${number}/${database}`;
  const parameters = parametersOf(query ?? '', purpose, broken);
  return {
    shown,
    host: parts.host.replace(/^\[|\]$/g, ''),
    port: number,
    role: parts.role,
    database: parts.database,
    password: password === undefined || password === '' ? undefined : new Secret(read(password)),
    tls: tlsOf(parameters, { shown, isSocket, isHere: isSocket || isLoopback(parts.host), purpose, broken }),
    mayPrepare: parameters.prepare === 'yes',
  };
}

type Broken = (rule: string, hint?: string) => CliError;

function decoded(part: string | undefined, broken: Broken): string {
  try {
    const text = decodeURIComponent(part ?? '');
    if (!/[\x00-\x1f\x7f]/.test(text)) return text;
  } catch {
    // Not what percent signs may say.
  }
  throw broken('its percent signs cannot be read');
}

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

function parametersOf(query: string, { knowsPrepare = false }: UrlPurpose, broken: Broken): Parameters {
  const names = PARAMETERS.filter(name => knowsPrepare || name !== 'prepare');
  const found: Record<string, string> = {};
  for (const pair of query.split('&').filter(Boolean)) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/.exec(pair) ?? [];
    const known = names.find(each => each === name);
    if (name === 'host' || name === 'port') throw broken(`${name} is no parameter of it; ${SOCKET_FORM}`);
    if (known === undefined) throw broken(`its parameters are ${names.join(', ')}`);
    if (known in found) throw broken(`${known} stands there twice`);
    found[known] = decoded(value, broken);
    if (known === 'prepare' && value !== 'yes') throw broken('prepare is yes or not there');
    if (known.startsWith('ssl') && known !== 'sslmode' && !found[known].startsWith('/'))
      throw broken(`${known} is an absolute path`);
  }
  return found;
}

interface Reach {
  readonly shown: string;
  readonly isSocket: boolean;
  /** A socket, or an address of this machine. */
  readonly isHere: boolean;
  readonly purpose: UrlPurpose;
  readonly broken: Broken;
}

function tlsOf(
  { sslmode, sslrootcert, sslcert, sslkey }: Parameters,
  { shown, isSocket, isHere, purpose, broken }: Reach,
): PostgresUrl['tls'] {
  if ((sslcert === undefined) !== (sslkey === undefined)) throw broken('sslcert and sslkey come together');
  const wished = sslmode ?? (isHere && sslrootcert === undefined && sslcert === undefined ? 'disable' : 'verify-full');
  if (wished === 'disable' && isHere) {
    if (sslrootcert !== undefined || sslcert !== undefined) throw broken('without TLS there are no certificates');
    return undefined;
  }
  if (isSocket) throw broken('a Unix socket has no TLS');
  if (wished !== 'verify-full') {
    throw new CliError('guarded', {
      message: `the ${purpose.what} ${shown} is reached with sslmode=verify-full only`,
      notes: [
        'Another mode would trust any server that answers. Only a Unix socket and an address of this machine need none.',
      ],
      hint: purpose.hint,
      outcome: 'not_sent',
    });
  }
  return {
    ...(sslrootcert !== undefined && { ca: sslrootcert }),
    ...(sslcert !== undefined && { cert: sslcert }),
    ...(sslkey !== undefined && { key: sslkey }),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function brokenRule({ what, hint }: UrlPurpose, rule: string, otherHint = hint): CliError {
  return new CliError('usage', {
    message: `not a usable address of a ${what}: ${rule}`,
    hint: otherHint,
    outcome: 'not_sent',
  });
}
