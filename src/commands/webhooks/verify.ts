/** Signatures of webhooks: verified and made. */

import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, maybe, needs, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { LIMITS } from '../../contract/limits.ts';
import { CREATE_WEBHOOK } from '../../contract/resources.ts';
import { DEVIATIONS, type Explanation, sign, verifyPayload } from '../../contract/signature/signature.ts';
import { violation } from '../../contract/violation.ts';
import { CliError, usage } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import { sameCommandWith } from '../../core/shell-quote.ts';
import { copiedLine, lineBlock } from '../../terminal/view.ts';

const file = local('file', 'File that holds a signing secret.');
const files = takes.list(file, 'File that holds a signing secret; repeat it while a secret is being replaced.');

export const SECRET_FILES_IF_ANY = option(files, '<file>');

/** Characters of a secret that is chosen here (A-72). */
const LEAST = LIMITS.webhookSecret.min;

/**
 * The secret in the text of a file: all but one line end behind it. Throws `usage` for one that is empty, shorter than `least` or
 * no printable text, without quoting it: a key of zero bytes signs as the empty key does, which everybody knows.
 */
export function secretIn(content: string, where: string, least: number = LEAST): Secret {
  const secret = content.replace(/\r?\n$/, '');
  if (secret === '') throw usage(`${where} holds no secret`);
  const wrong = violation({ ...CREATE_WEBHOOK.secret, minLength: least }, secret);
  if (wrong !== undefined) throw usage(`the secret in ${where}: ${wrong}`);
  return new Secret(secret);
}

/**
 * The secrets of the files, in their order: whatever the sender signs with. White space is kept, for it may belong to a secret, and
 * spoken of; so is a secret that can be guessed.
 */
async function readSecrets(ctx: Context, paths: readonly string[]): Promise<readonly Secret[]> {
  const secrets: Secret[] = [];
  for (const path of paths) {
    const secret = secretIn(await ctx.files.readFile(path), path, 1);
    const { length } = secret.expose();
    if (length < LEAST) {
      ctx.ui.notice(
        `warning: the secret in ${path} has ${length} ${length === 1 ? 'character' : 'characters'}: under ${LEAST} it can be guessed, and signatures prove little`,
      );
    }
    if (secret.expose().trim() !== secret.expose()) {
      ctx.ui.notice(`warning: the secret in ${path} begins or ends with white space, which counts as part of it`);
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

export const verifySignature = command({
  path: 'webhooks verify',
  summary: 'Check the signature of a payload (offline)',
  answers: {
    one: {
      verified: tells.yes('Always true; a bad signature is exit 15.'),
      as_documented: tells.yes('Whether it has the documented form.'),
      deviations: tells.texts('In what it deviates.'),
      secret_file: orNull(tells.text('File of the secret that fits.')),
      secret: maybe(tells.count('Its number, when there are several.')),
    },
  },
  about: [
    'The payload is read as raw bytes. You can give several secrets while one is being replaced. A signature that is not in the documented form (64 lowercase hex digits) is accepted with a note.',
    'The signature covers the body alone and cannot detect a repeated delivery: remember the event ids you have seen.',
  ],
  reach: 'files',
  ends: { check_failed: 'The signature does not fit the payload.' },
  flags: {
    payload: needs(local('file', 'File that holds the payload; - for standard input.'), '<file|->'),
    signature: needs(takes.text('Signature that came with it.'), '<hex>'),
    secretFile: needs(files, '<file>'),
    explain: option(takes.flag('Look for the usual mistakes and say which one was made.')),
  },
  examples: {
    'A delivery that was kept':
      'webhooks verify --payload event.json --signature "$signature" --secret-file secret.txt --explain',
    'Yes or no, by the exit code':
      'webhooks verify --payload event.json --signature "$signature" --secret-file secret.txt -q',
  },
  async run(ctx, { payload, signature, secretFile, explain }) {
    const secrets = await readSecrets(ctx, secretFile);
    const checked = verifyPayload(await ctx.files.readBytes(payload), signature, secrets);
    if (!checked.verified) throw broken(checked.explanations, secretFile, explain === true);
    const { secret, deviations } = checked;
    return {
      verified: true,
      as_documented: deviations.length === 0,
      deviations,
      secret_file: secretFile[secret] ?? null,
      ...(secretFile.length > 1 && { secret: secret + 1 }),
    };
  },
  columns: ['verified as_documented deviations secret_file:2', { secret_file: 'SECRET' }],
  noun: 'signature',
  show: ({ as_documented: documented, deviations, secret_file: file, secret }) => ({
    quiet: [],
    blocks: [
      lineBlock(
        `The signature matches${documented ? '' : ', but not as documented'}${secret === undefined ? '' : `: secret ${secret}, ${file}`}.`,
      ),
    ],
    notes: [
      ...deviations.map(each => DEVIATIONS[each]),
      ...(secret !== undefined && secret > 1
        ? [`The sender signs with the secret in ${file}, not with the first one given.`]
        : []),
    ],
  }),
});

function broken(explanations: readonly Explanation[], tried: readonly string[], explains: boolean): CliError {
  const secrets = tried.length === 1 ? 'the secret' : `any of the ${tried.length} secrets`;
  const other = {
    mistake: 'other_secret_or_payload',
    says: 'No usual mistake explains it: it was made with another secret (an old one?), or over another payload.',
  };
  const found = explanations.length === 0 ? [other] : explanations;
  return new CliError('check_failed', {
    message: `the signature does not match the payload under ${secrets}`,
    ...(explains
      ? { notes: found.map(({ says }) => says), evidence: { mistakes: found.map(({ mistake }) => mistake) } }
      : { hint: sameCommandWith('--explain') }),
  });
}

export const signPayload = command({
  path: 'webhooks sign',
  summary: 'Print the signature of a payload (offline)',
  answers: { one: { signature: tells.text('HMAC-SHA256, 64 lowercase hex digits.') } },
  about: 'HMAC-SHA256 of exactly the bytes of the payload, as 64 lowercase hex digits. Nothing is sent.',
  reach: 'files',
  flags: {
    payload: needs(local('file', 'File that holds the payload; - for standard input.'), '<file|->'),
    secretFile: needs(file, '<file>'),
  },
  examples: {
    'A file': 'webhooks sign --payload event.json --secret-file secret.txt',
    'From standard input': 'webhooks sign --payload - --secret-file secret.txt < event.json',
  },
  async run(ctx, { payload, secretFile }) {
    const [secret] = await readSecrets(ctx, [secretFile]);
    const bytes = await ctx.files.readBytes(payload);
    return { signature: secret === undefined ? '' : sign(bytes, secret) };
  },
  columns: 'signature',
  noun: 'signature',
  idField: 'signature',
  show: ({ signature }) => ({ blocks: [copiedLine(signature)] }),
});
