/** One thing `doctor` looked at. */
export interface Finding {
  /** `key`, `network`, `clock` … */
  readonly check: string;
  /** `fail` makes the whole examination fail; `warn` should be known; `skip` could not be looked at. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  /** One line; no secret in it. */
  readonly says: string;
  /** The next command, for what is not ok. */
  readonly hint?: string;
}
