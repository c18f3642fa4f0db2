/** Why a server of PostgreSQL was left, or left us: apart from the client, which is loaded late. */

/**
 * The server refused a statement or a login. Nothing of it was carried out, unless the server was shut down meanwhile
 * (codes 57P): then that is not known.
 */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal';
  /** Five characters, `42501`; ours begin with CW. */
  readonly code: string;
  readonly detail: string | undefined;

  constructor(code: string, message: string, detail?: string) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

/** The server asked for a password in a way that would give it away. */
export class UnsafeLogin extends Error {
  override readonly name = 'UnsafeLogin';
}
