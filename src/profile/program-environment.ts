/**
 * The environment of a program that a command starts: in it, cardwright acts for the account of that command or for
 * none (docs/design/security.md, E13).
 */
import type { Identity } from '../core/identity.ts';
import type { Environment } from '../platform/host.ts';

const API_KEYS = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_API_KEY_FILE'];
const SANDBOX_TOKENS = ['CARDWRIGHT_SANDBOX_TOKEN', 'CARDWRIGHT_SANDBOX_TOKEN_FILE'];

export interface ProgramAccount {
  /** Who the command acts as; undefined where nothing chose a profile. */
  readonly identity: Pick<Identity, 'profile' | 'baseUrl'> | undefined;
  /** Path of the overrides that an option named. */
  readonly contract: string | undefined;
  /** Whether the program gets the key and the token that the environment of the command has. */
  readonly handsKeys: boolean;
}

/**
 * The variables of `env`, with the profile of the command in `CARDWRIGHT_PROFILE`. A key, an address or a token that
 * would make another account of it is left out.
 */
export function programEnvironment(env: Environment, { identity, contract, handsKeys }: ProgramAccount): Environment {
  const isSaved = identity !== undefined && identity.profile !== 'env';
  const isOtherAddress = isSaved && env['CARDWRIGHT_BASE_URL']?.replace(/\/+$/, '') !== identity.baseUrl;
  const leftOut = new Set([
    'CARDWRIGHT_WEBHOOK_SECRET',
    // A key of the environment goes before CARDWRIGHT_PROFILE.
    ...(isSaved || !handsKeys ? API_KEYS : []),
    ...(handsKeys ? [] : SANDBOX_TOKENS),
    ...(isOtherAddress ? ['CARDWRIGHT_BASE_URL'] : []),
  ]);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== undefined && !leftOut.has(name))),
    ...(identity !== undefined && { CARDWRIGHT_PROFILE: identity.profile }),
    ...(contract !== undefined && { CARDWRIGHT_CONTRACT: contract }),
  };
}
