/** Every environment variable that means something to a run: the one table behind `help environment`. */
import { GLOBALS } from '../../app/globals.ts';

interface EnvironmentVariable {
  readonly name: string;
  readonly means: string;
  /** The option that says the same and wins. */
  readonly option: string | null;
}

const OURS = {
  CARDWRIGHT_API_KEY: 'API key for this command; --profile and --sandbox win over it',
  CARDWRIGHT_API_KEY_FILE: 'file that holds the API key',
  CARDWRIGHT_BASE_URL: 'address of the service for that key, with its version',
  CARDWRIGHT_JOURNAL_URL: 'address of a shared journal, postgres://role@host/database; may hold a password',
  CARDWRIGHT_TEST_ONLY: 'refuse every live key (any value but 0 and false)',
  CARDWRIGHT_CONFIG_DIR: 'one folder for configuration, state, data and cache',
  CARDWRIGHT_CACHE: 'off: do not cache compiled code; an absolute path: cache it in that folder',
  CARDWRIGHT_SANDBOX_URL: "address of a sandbox that runs elsewhere, for the sandbox's own commands",
  CARDWRIGHT_SANDBOX_DIALECT: 'dialect of the embedded sandbox, and of a sandbox that is started without --dialect',
  CARDWRIGHT_LISTENER_URL: 'set by webhooks listen and expect for their program: the address they listen on',
  CARDWRIGHT_SANDBOX_TOKEN: "token of that sandbox's control surface",
  CARDWRIGHT_SANDBOX_TOKEN_FILE: 'file that holds that token',
  CARDWRIGHT_WEBHOOK_SECRET: 'set by sandbox exec for its program: signs webhooks without a secret of their own',
};

const COMMON = {
  CI: 'if set, no question is asked',
  GITHUB_ACTIONS: 'true: codes are masked in the log before they are printed',
  NO_COLOR: 'when not empty, no colour',
  FORCE_COLOR: 'colour in pipes too; 0 for no colour',
  CLICOLOR_FORCE: 'colour in pipes too, unless 0',
  CLICOLOR: '0 for no colour',
  TERM: 'dumb for no colour; linux for ASCII glyphs',
  COLUMNS: 'width of the screen',
  LC_ALL: 'a locale without UTF-8 gets ASCII glyphs (also LC_CTYPE, LANG)',
  TZ: 'time zone of dates and times without a zone',
  XDG_CONFIG_HOME: 'where profiles are kept (also XDG_STATE_HOME, XDG_DATA_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR)',
  HTTPS_PROXY: 'proxy for https (also https_proxy, ALL_PROXY, all_proxy)',
  NO_PROXY: 'hosts to reach without a proxy (also no_proxy)',
  NODE_EXTRA_CA_CERTS: 'file with more certificates to trust (also SSL_CERT_FILE)',
  NODE_TLS_REJECT_UNAUTHORIZED: '0 is refused with a live key; with a test key it prints a warning',
  SSH_CONNECTION: 'if set, no live card is revealed unless the profile allows it (also CI, ASCIINEMA_*)',
};

const OF_OPTIONS: readonly EnvironmentVariable[] = GLOBALS.flatMap(({ name, env, means }) =>
  env === undefined ? [] : [{ name: env, means, option: `--${name}` }],
);

export const ENVIRONMENT: readonly EnvironmentVariable[] = [
  ...OF_OPTIONS,
  ...Object.entries({ ...OURS, ...COMMON }).map(([name, means]) => ({ name, means, option: null })),
];
