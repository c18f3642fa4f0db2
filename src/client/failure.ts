/** Errors of sockets, TLS and the HTTP parser in a user's words; the code is kept so that it can be searched for. */

export interface WireFailure {
  /** One clause without a full stop: `connection refused by 127.0.0.1:4010 (ECONNREFUSED)`. */
  readonly text: string;
  /** The answer passed its limit, and will do so again. */
  readonly isTooLarge?: boolean;
  /** Nobody listens at the address. */
  readonly nobody?: boolean;
  readonly cause: unknown;
}

/** What ended an exchange; its text already says everything. */
export class WireProblem extends Error {
  override readonly name = 'WireProblem';
  readonly isTooLarge: boolean;
  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** `30 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

const NOT_TRUSTED = 'the TLS certificate of PLACE is not trusted';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused by PLACE',
  ENOENT: 'nothing listens at PLACE',
  EACCES: 'no permission to connect to PLACE',
  ENOTFOUND: 'the name of PLACE cannot be resolved',
  EAI_AGAIN: 'the name of PLACE cannot be resolved at the moment',
  EHOSTUNREACH: 'no route to PLACE',
  ENETUNREACH: 'no network connection to PLACE',
  ECONNRESET: 'PLACE reset the connection',
  EPIPE: 'PLACE closed the connection',
  ETIMEDOUT: 'no connection to PLACE within the time limit',
  UND_ERR_SOCKET: 'PLACE closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'no connection to PLACE within the time limit',
  UND_ERR_HEADERS_TIMEOUT: 'PLACE did not start to answer within the time limit',
  UND_ERR_HEADERS_OVERFLOW: 'PLACE sent more than 16 KiB of headers',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer of PLACE was cut off',
  CERT_HAS_EXPIRED: 'the TLS certificate of PLACE has expired',
  CERT_NOT_YET_VALID: 'the TLS certificate of PLACE is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate presented is not for PLACE',
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
};

/**
 * Describes whatever the HTTP library threw. Its own messages are never shown: they may quote headers.
 *
 * @param place host and port, or what stands for a socket.
 * @param issuer of the certificate that was shown: often the operator's own proxy.
 */
export function describeFailure(thrown: unknown, place: string, issuer?: string): WireFailure {
  if (thrown instanceof WireProblem) return { text: thrown.message, isTooLarge: thrown.isTooLarge, cause: thrown };
  const code = codeOf(thrown);
  // The parser gives a code to some of its errors only.
  const isParsers = code?.startsWith('HPE_') === true || (thrown instanceof Error && thrown.name === 'HTTPParserError');
  const words = isParsers
    ? 'PLACE does not speak correct HTTP'
    : (WORDS[code ?? ''] ?? 'the connection to PLACE failed');
  const issued = /TLS certificate/.test(words) && issuer !== undefined ? `issued by ${issuer}` : undefined;
  const facts = [code, issued].filter(Boolean).join(', ');
  const text = words.replace('PLACE', () => place);
  return { text: facts ? `${text} (${facts})` : text, nobody: code === 'ECONNREFUSED', cause: thrown };
}

/** Several addresses of one name fail together; the first code stands for all. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, errors, cause } = thrown as { code?: unknown; errors?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return codeOf(Array.isArray(errors) ? errors[0] : cause);
}
