/** Who the commands of this run act as. */
export interface Identity {
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly baseUrl: string;
  readonly chosenBy: string;
  readonly keyHint: string | undefined;
  /** `stored`, `key_file`, `key_command`, `keychain`, `environment`, `embedded`. */
  readonly keySource: string;
  /** Where the key itself is, in words. */
  readonly keyHome: string;
  readonly contractFile: string | undefined;
}
