/** Names of profiles: which there may be, and how a wrong one is quoted. */
import { CliError } from '../core/errors.ts';
import { GIVEN_NAME, GIVEN_NAME_RULE } from '../core/given-name.ts';

const LOOKS_LIKE_A_KEY = /sk_(?:live|test)_/i;

/** Names with a meaning of their own: the built-in sandbox, and the key that came from the environment. */
const RESERVED = ['sandbox', 'env'];

/**
 * What somebody typed, fit to stand in a message: in double quotes, every character outside printable ASCII
 * as `\u` escape, cut after `most` characters.
 */
export function quoted(text: string, most = 64): string {
  const shown = text.length > most ? `${text.slice(0, most)}...` : text;
  const visible = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(shown).replaceAll(/[^\x20-\x7e]/g, visible);
}

/**
 * Checks a profile name (docs/design/cli.md, "Keys and profiles") and returns it. The reserved names pass, because they
 * can be named to choose them. Throws `usage`.
 */
export function checkProfileName(text: string): string {
  // Somebody pasted a key where a name belongs: the message must not repeat it.
  if (LOOKS_LIKE_A_KEY.test(text)) {
    throw new CliError('usage', {
      message: 'a profile name is expected, and this looks like an API key (not shown)',
      hint: 'cardwright profiles list',
    });
  }
  if (!GIVEN_NAME.test(text)) {
    throw new CliError('usage', {
      message: `not a profile name: ${quoted(text)}; it has ${GIVEN_NAME_RULE}`,
      hint: 'cardwright profiles list',
    });
  }
  return text;
}

/** `not_found` with what leads on: the profiles there are, and how one of this name is made. Nothing was sent. */
export function unknownProfile(name: string, why = ''): CliError {
  return new CliError('not_found', {
    message: `there is no profile ${name}${why}`,
    notes: [`To save a key under this name: cardwright login --profile ${name}`],
    hint: 'cardwright profiles list',
    outcome: 'not_sent',
  });
}

/** Like `checkProfileName`, for a name under which something is saved: `sandbox` and `env` are `usage` too. */
export function checkNewProfileName(text: string): string {
  const name = checkProfileName(text);
  if (RESERVED.includes(name)) {
    throw new CliError('usage', {
      message: `the profile name ${name} is reserved: sandbox is the built-in profile, env the key of the environment`,
      hint: 'cardwright profiles list',
    });
  }
  return name;
}
