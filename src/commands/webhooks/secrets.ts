/** Signing secrets as commands take them: from files, never as a value of an option. */
import type { Context } from '../../cli/context.ts';
import { local, needs, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { list } from '../../contract/field.ts';
import { CREATE_WEBHOOK } from '../../contract/resources.ts';
import { violation } from '../../contract/violation.ts';
import { Secret } from '../../core/secret.ts';

const file = local('file', 'File that holds a signing secret.');
const files = list(file, {
  doc: 'File that holds a signing secret; repeat it while a secret is being replaced.',
  basis: OURS,
});

export const SECRET_FILE = needs(file, '<file>');
export const SECRET_FILES = needs(files, '<file>');
export const SECRET_FILES_IF_ANY = option(files, '<file>');

/**
 * The secret in the text of a file: all but one line end behind it. Throws `usage` for one that is empty, too short or
 * no printable text, without quoting it: a key of zero bytes signs as the empty key does, which everybody knows.
 */
export function secretIn(content: string, where: string): Secret {
  const secret = content.replace(/\r?\n$/, '');
  if (secret === '') throw usage(`${where} holds no secret`);
  const wrong = violation(CREATE_WEBHOOK.secret, secret);
  if (wrong !== undefined) throw usage(`the secret in ${where}: ${wrong}`);
  return new Secret(secret);
}

/** The secrets of the files, in their order. White space is kept, for it may belong to a secret, and spoken of. */
export async function readSecrets(ctx: Context, paths: readonly string[]): Promise<readonly Secret[]> {
  const secrets: Secret[] = [];
  for (const path of paths) {
    const secret = secretIn(await ctx.readFile(path), path);
    if (secret.expose().trim() !== secret.expose()) {
      ctx.notice(`warning: the secret in ${path} begins or ends with white space, which counts as part of it`);
    }
    secrets.push(secret);
  }
  return secrets;
}

/** A sandbox is told a secret made for this run; for everything else it must be the one the sender signs with. */
export async function secretsFor(
  ctx: Context,
  files: readonly string[] | undefined,
  isOurs: boolean,
): Promise<readonly Secret[]> {
  if (files !== undefined) return readSecrets(ctx, files);
  if (isOurs) return [new Secret(`whsec_${Buffer.from(ctx.random.bytes(32)).toString('base64url')}`)];
  throw usage(
    'the secret the deliveries are signed with is needed: --secret-file <file>',
    'cardwright webhooks listen --help',
  );
}
