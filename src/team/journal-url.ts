/** The address of a shared journal: what it may say, and how it is shown. */
import { CliError } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';

/** A checked address. */
export interface JournalUrl {
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
}

/** Where it was read: a command line is seen by everybody on the machine, and a password has no place there. */
export type UrlSource = 'flag' | 'environment' | 'file';

const SHAPE =
  /^postgres(?:ql)?:\/\/([^:@/?#]+)(?::([^@/?#]*))?@(\[[0-9a-f:.]+\]|[^:@/?#[\]]+)(?::(\d{1,5}))?\/([^/?#]+)(?:\?([^#]*))?$/i;
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
const DEFAULT_PORT = 5432;
const FORM = 'postgres://role@host:port/database?sslmode=verify-full&sslrootcert=/absolute/path';

/**
 * Reads an address. Throws `usage` naming the broken rule, `guarded` for a connection that would not be verified. The
 * text itself is not repeated: it may hold a password.
 */
export function parseJournalUrl(text: string, source: UrlSource): JournalUrl {
  const [whole, role, password, host, port, database, query] = SHAPE.exec(text) ?? [];
  if (whole === undefined || !/^[\x21-\x7e]+$/.test(text)) throw broken(`it has the form ${FORM}`);
  const parts = { role: decoded(role), host: decoded(host), database: decoded(database) };
  if (/[,\s]/.test(parts.host)) throw broken('it names one host');
  if (password !== undefined && source === 'flag') {
    throw broken('no password: the command line is seen by everybody on this machine', PASSWORD_HINT);
  }
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (number < 1 || number > 65_535) throw broken('the port is from 1 to 65535');
  const isSocket = parts.host.startsWith('/');
  const shown = `postgres://${role}@${host}:${number}/${database}`;
  return {
    shown,
    host: parts.host.replace(/^\[|\]$/g, ''),
    port: number,
    role: parts.role,
    database: parts.database,
    password: password === undefined || password === '' ? undefined : new Secret(decoded(password)),
    tls: tlsOf(parametersOf(query ?? ''), { shown, isSocket, isHere: isSocket || isLoopback(parts.host) }),
  };
}

const PASSWORD_HINT = 'name a file with CARDWRIGHT_JOURNAL_URL_FILE or CARDWRIGHT_JOURNAL_PASSWORD_FILE';

function decoded(part = ''): string {
  try {
    const text = decodeURIComponent(part);
    if (!/[\x00-\x1f\x7f]/.test(text)) return text;
  } catch {
    // Not what percent signs may say.
  }
  throw broken('its percent signs cannot be read');
}

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

function parametersOf(query: string): Parameters {
  const found: Record<string, string> = {};
  for (const pair of query.split('&').filter(Boolean)) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/.exec(pair) ?? [];
    const known = PARAMETERS.find(each => each === name);
    if (known === undefined) throw broken(`its parameters are ${PARAMETERS.join(', ')}`);
    if (known in found) throw broken(`${known} stands there twice`);
    found[known] = decoded(value);
    if (known !== 'sslmode' && !found[known].startsWith('/')) throw broken(`${known} is an absolute path`);
  }
  return found;
}

interface Reach {
  readonly shown: string;
  readonly isSocket: boolean;
  /** A socket, or an address of this machine. */
  readonly isHere: boolean;
}

function tlsOf(
  { sslmode, sslrootcert, sslcert, sslkey }: Parameters,
  { shown, isSocket, isHere }: Reach,
): JournalUrl['tls'] {
  if ((sslcert === undefined) !== (sslkey === undefined)) throw broken('sslcert and sslkey come together');
  const wished = sslmode ?? (isHere && sslrootcert === undefined && sslcert === undefined ? 'disable' : 'verify-full');
  if (wished === 'disable' && isHere) {
    if (sslrootcert !== undefined || sslcert !== undefined) throw broken('without TLS there are no certificates');
    return undefined;
  }
  if (isSocket) throw broken('a Unix socket has no TLS');
  if (wished !== 'verify-full') {
    throw new CliError('guarded', {
      message: `the shared journal ${shown} is reached with sslmode=verify-full alone`,
      notes: [
        'Another mode would trust any server that answers. Only a Unix socket and an address of this machine need none.',
      ],
      hint: 'cardwright journal status --help',
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

function broken(rule: string, hint = 'cardwright journal status --help'): CliError {
  return new CliError('usage', {
    message: `not a usable address of a shared journal: ${rule}`,
    hint,
    outcome: 'not_sent',
  });
}
