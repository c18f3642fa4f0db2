/** Every environment variable that means something to a run: the one table behind `help environment`. */
import { GLOBALS, type GlobalOption } from '../parsing/globals.ts';

export interface EnvironmentVariable {
  readonly name: string;
  readonly means: string;
  /** The option that says the same and wins. */
  readonly option: string | null;
}

const variable = (name: string, means: string): EnvironmentVariable => ({ name, means, option: null });

const OURS = [
  variable('CARDWRIGHT_API_KEY', 'API key of this run; --profile and --sandbox go before it'),
  variable('CARDWRIGHT_API_KEY_FILE', 'file that holds the API key'),
  variable('CARDWRIGHT_BASE_URL', 'address of the service for a key from the environment, with its version'),
  variable('CARDWRIGHT_TEST_ONLY', 'refuse every live key (anything but 0 and false)'),
  variable('CARDWRIGHT_CONFIG_DIR', 'one folder for configuration, state, data and cache'),
  variable('CARDWRIGHT_CACHE', 'off: keep no compiled code; an absolute path: keep it below that folder'),
  variable('CARDWRIGHT_SANDBOX_URL', "address of a sandbox that runs elsewhere, for the sandbox's own commands"),
  variable(
    'CARDWRIGHT_SANDBOX_DIALECT',
    'how the sandbox speaks, to meet answers of other services: the embedded one, and one that is started without --dialect',
  ),
  variable('CARDWRIGHT_LISTENER_URL', 'given to a program that webhooks listen or expect runs: where it listens'),
  variable('CARDWRIGHT_SANDBOX_TOKEN', "token of that sandbox's control surface"),
  variable('CARDWRIGHT_WEBHOOK_SECRET', 'set by sandbox exec for its program: signs webhooks that name no secret'),
];

const COMMON = [
  variable('CI', 'when set, nothing is ever asked'),
  variable('GITHUB_ACTIONS', 'true: codes are hidden in the log before they are printed'),
  variable('NO_COLOR', 'when not empty, no colour'),
  variable('FORCE_COLOR', 'colour off a terminal too; 0 forbids it'),
  variable('CLICOLOR_FORCE', 'colour off a terminal too, unless 0'),
  variable('CLICOLOR', '0 for no colour'),
  variable('TERM', 'dumb for no colour; linux for ASCII glyphs'),
  variable('COLUMNS', 'width of the screen'),
  variable('LC_ALL', 'a locale without UTF-8 gets ASCII glyphs (also LC_CTYPE, LANG)'),
  variable('TZ', 'zone of dates and times given without one'),
  variable(
    'XDG_CONFIG_HOME',
    'where profiles are kept (also XDG_STATE_HOME, XDG_DATA_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR)',
  ),
  variable('HTTPS_PROXY', 'proxy for https (also https_proxy, ALL_PROXY, all_proxy)'),
  variable('NO_PROXY', 'hosts reached without it (also no_proxy)'),
  variable('NODE_EXTRA_CA_CERTS', 'file of certificates to trust beside the usual ones (also SSL_CERT_FILE)'),
  variable('NODE_TLS_REJECT_UNAUTHORIZED', '0 is refused with a live key and warned of with a test key'),
  variable('SSH_CONNECTION', 'when set, no live card is revealed (also CI, ASCIINEMA_*), unless the profile allows it'),
];

const OF_OPTIONS: readonly EnvironmentVariable[] = (GLOBALS as readonly GlobalOption[]).flatMap(
  ({ name, env, means }) => (env === undefined ? [] : [{ name: env, means, option: `--${name}` }]),
);

export const ENVIRONMENT: readonly EnvironmentVariable[] = [...OF_OPTIONS, ...OURS, ...COMMON];
