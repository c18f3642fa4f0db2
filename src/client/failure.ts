/** Errors of sockets, TLS and the HTTP parser in a user's words; the code is kept so that it can be searched for. */

export interface WireFailure {
  /** One clause without a full stop: `connection refused by 127.0.0.1:4010 (ECONNREFUSED)`. */
  readonly text: string;
  readonly reason: 'network' | 'time' | 'stopped' | 'too_large';
  /** Nobody listens at the address. */
  readonly nobody?: boolean;
  readonly cause: unknown;
}

/** The reason of an exchange whose time is up. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  constructor(totalMs: number) {
    super(`no complete answer within ${seconds(totalMs)}`);
  }
}

/** The reason of an exchange that a signal has stopped. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  constructor(cause: unknown) {
    super('stopped before the answer', { cause });
  }
}

/** `30 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

/** Thrown inside the transport when a body passes its limit. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  constructor(maxBytes: number) {
    const limit = maxBytes >= 1 << 20 ? `${maxBytes >> 20} MiB` : `${maxBytes >> 10} KiB`;
    super(`the answer is larger than the limit of ${limit}`);
  }
}

type Words = (place: string) => string;

const TLS_WORDS: Words = place => `the TLS certificate of ${place} is not trusted`;

const WORDS: Readonly<Record<string, Words>> = {
  ECONNREFUSED: place => `connection refused by ${place}`,
  ENOENT: place => `nothing listens at ${place}`,
  EACCES: place => `no permission to connect to ${place}`,
  ENOTFOUND: place => `the name of ${place} cannot be resolved`,
  EAI_AGAIN: place => `the name of ${place} cannot be resolved at the moment`,
  EHOSTUNREACH: place => `no route to ${place}`,
  ENETUNREACH: place => `no network connection to ${place}`,
  ECONNRESET: place => `${place} reset the connection`,
  EPIPE: place => `${place} closed the connection`,
  ETIMEDOUT: place => `no connection to ${place} within the time limit`,
  UND_ERR_SOCKET: place => `${place} closed the connection`,
  UND_ERR_CONNECT_TIMEOUT: place => `no connection to ${place} within the time limit`,
  UND_ERR_HEADERS_TIMEOUT: place => `${place} did not start to answer within the time limit`,
  UND_ERR_HEADERS_OVERFLOW: place => `${place} sent more than 16 KiB of headers`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: place => `the answer of ${place} was cut off`,
  CERT_HAS_EXPIRED: place => `the TLS certificate of ${place} has expired`,
  CERT_NOT_YET_VALID: place => `the TLS certificate of ${place} is not valid yet`,
  ERR_TLS_CERT_ALTNAME_INVALID: place => `the TLS certificate presented is not for ${place}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: TLS_WORDS,
  SELF_SIGNED_CERT_IN_CHAIN: TLS_WORDS,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TLS_WORDS,
  UNABLE_TO_GET_ISSUER_CERT: TLS_WORDS,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TLS_WORDS,
};

/** A failure of the connection itself, whose text already says everything. */
export class ConnectionProblem extends Error {
  override readonly name = 'ConnectionProblem';
}

/**
 * Describes whatever the HTTP library threw. Its own messages are never shown: they may quote headers.
 *
 * @param place host and port, or the path of a socket.
 */
export function describeFailure(thrown: unknown, place: string): WireFailure {
  if (thrown instanceof TimeIsUp) return { text: thrown.message, reason: 'time', cause: thrown };
  if (thrown instanceof Stopped) return { text: thrown.message, reason: 'stopped', cause: thrown.cause };
  if (thrown instanceof TooLarge) return { text: thrown.message, reason: 'too_large', cause: thrown };
  if (thrown instanceof ConnectionProblem) return { text: thrown.message, reason: 'network', cause: thrown };
  const code = codeOf(thrown);
  const issuer = issuerOf(thrown);
  const said = isParserError(thrown, code) ? `${place} does not speak correct HTTP` : WORDS[code ?? '']?.(place);
  const text = said ?? `the connection to ${place} failed`;
  const facts = [code, issuer && `issued by ${issuer}`].filter(Boolean).join(', ');
  return {
    text: facts ? `${text} (${facts})` : text,
    reason: 'network',
    nobody: code === 'ECONNREFUSED',
    cause: thrown,
  };
}

/** The parser gives a code to some of its errors only. */
function isParserError(thrown: unknown, code: string | undefined): boolean {
  return code?.startsWith('HPE_') === true || (thrown instanceof Error && thrown.name === 'HTTPParserError');
}

/** Several addresses of one name fail together; the first code stands for all. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, errors, cause } = thrown as { code?: unknown; errors?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  if (Array.isArray(errors)) return codeOf(errors[0]);
  return cause === undefined ? undefined : codeOf(cause);
}

const issuers = Symbol.for('cardwright.certificate-issuer');

/** Remembers who issued a certificate that was not trusted: usually the operator's own proxy. */
export function noteIssuer(error: Error, issuer: string | undefined): Error {
  return issuer === undefined ? error : Object.assign(error, { [issuers]: issuer });
}

function issuerOf(thrown: unknown): string | undefined {
  return thrown instanceof Error ? (thrown as { [issuers]?: string })[issuers] : undefined;
}
