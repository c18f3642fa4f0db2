/** Who the commands of this run act as. */
export interface Identity {
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  /** Without a slash at the end; `embedded` for the embedded sandbox. */
  readonly baseUrl: string;
  /** What decided: `--profile`, `--sandbox`, a variable's name, `current profile` or `default on a terminal`. */
  readonly chosenBy: string;
  readonly keyHint: string | undefined;
  /** `stored`, `key_file`, `key_command`, `keychain`, `environment`, `embedded`. */
  readonly keySource: string;
  /** Where the key itself is, for people: a variable's name, a path, the keychain, a command's program. */
  readonly keyHome: string;
  readonly contractFile: string | undefined;
}
