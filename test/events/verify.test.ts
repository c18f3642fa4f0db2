/** Signatures made by somebody else's program, and each usual mistake named (docs/design/security.md, H1 to H6). */
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { requires } from '../support/programs.ts';
import { world } from '../support/world.ts';

const SECRET = 'whsec_c2l4dGVlbiBieXRlcyBvZiBrZXk';
const PAYLOAD = '{"id":"evt_1","type":"card.created","note":"café/bar","data":{"balance":12.5,"label":"a b"}}';

const here = await world();
afterAll(() => here[Symbol.asyncDispose]());

/** The digest `openssl dgst` makes, in hex. */
function openssl(body: string, secret = SECRET): string {
  const { stdout, status } = spawnSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-hex'], {
    input: body,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stdout.trim().replace(/^.*= ?/, '');
}

interface Verifying {
  readonly payload?: string;
  readonly signature: string;
  readonly secrets?: readonly string[];
}

async function verify({ payload = PAYLOAD, signature, secrets = [SECRET] }: Verifying) {
  await writeFile(join(here.folder, 'payload'), payload);
  const files = secrets.map((_, index) => `secret-${index}`);
  for (const [index, secret] of secrets.entries()) await writeFile(join(here.folder, `secret-${index}`), secret);
  const flags = files.map(file => `--secret-file ${file}`).join(' ');
  const line = `webhooks verify --payload payload --signature '${signature}' ${flags} --explain --json`;
  const { code, out, err } = await here.run(line);
  expect(out + err).not.toContain('whsec_');
  return { code, err, answer: JSON.parse(code === 0 ? out : (err.trim().split('\n').at(-1) ?? '')) };
}

describe.skipIf(requires('openssl'))('a signature openssl made', () => {
  it('is verified, and ours is the same', async () => {
    const signature = openssl(PAYLOAD);
    expect(await verify({ signature })).toMatchObject({ code: 0, answer: { verified: true, as_documented: true } });
    await writeFile(join(here.folder, 'secret'), `${SECRET}\n`);
    const signed = await here.run('webhooks sign --payload - --secret-file secret', { stdin: PAYLOAD });
    expect(signed.out).toBe(`${signature}\n`);
  });

  it.each<readonly [string, string, (hex: string) => string]>([
    ['base64', 'base64', hex => Buffer.from(hex, 'hex').toString('base64')],
    ['list', 'in a list', hex => `${'0'.repeat(64)},${hex}`],
  ])('counts, and is called %s when it is %s', async (deviation, _, written) => {
    const { code, answer } = await verify({ signature: written(openssl(PAYLOAD)) });
    expect({ code, answer }).toMatchObject({ code: 0, answer: { as_documented: false, deviations: [deviation] } });
  });

  it('made with the old secret says which one', async () => {
    const signature = openssl(PAYLOAD, 'the-secret-of-before');
    const { answer } = await verify({ signature, secrets: [SECRET, 'the-secret-of-before'] });
    expect(answer).toMatchObject({ secret: 2, secret_file: 'secret-1' });
  });

  /** One a kind of fault; `contract/signature.test.ts` has all of them. */
  it.each<readonly [string, () => Verifying]>([
    ['newline_removed', () => ({ signature: openssl(`${PAYLOAD}\n`) })],
    ['json_written_again', () => ({ payload: PAYLOAD.replaceAll(':', ': '), signature: openssl(PAYLOAD) })],
    ['secret_has_space_around', () => ({ signature: openssl(PAYLOAD), secrets: [` ${SECRET} `] })],
    ['other_secret_or_payload', () => ({ signature: openssl(PAYLOAD, 'somebody-else') })],
  ])('explains %s', async (mistake, made) => {
    const { code, answer } = await verify(made());
    expect({ code, mistakes: answer.error.evidence.mistakes }).toEqual({ code: 15, mistakes: [mistake] });
  });

  it('under a secret with white space warns and keeps it', async () => {
    const secret = `${SECRET} `;
    const { code, err } = await verify({ signature: openssl(PAYLOAD, secret), secrets: [secret] });
    expect(code).toBe(0);
    expect(err).toContain('begins or ends with white space');
  });
});

it.each([
  ['zero bytes', '\0'.repeat(32)],
  ['a zero byte at its end', 'a secret of its own\0'],
  ['white space', ' '.repeat(40)],
  ['characters nobody sees', '\u200b'.repeat(16)],
])('a secret of %s is none, and nothing is signed, checked or sent with it', async (_, secret) => {
  await writeFile(join(here.folder, 'secret'), secret);
  await writeFile(join(here.folder, 'payload'), '{}');
  const byAnybody = createHmac('sha256', '').update('{}').digest('hex');
  for (const line of [
    'webhooks sign --payload payload --secret-file secret',
    `webhooks verify --payload payload --signature ${byAnybody} --secret-file secret`,
    'webhooks listen --secret-file secret --wait-timeout 1s',
    'webhooks expect card.created --secret-file secret --wait-timeout 1s',
    'webhooks create --url https://example.com/hook --event card.created --secret-file secret',
    'webhooks create --url https://example.com/hook --event card.created --secret-stdin',
  ]) {
    const { code, err } = await here.run(line, { stdin: secret });
    expect([line, code]).toEqual([line, 2]);
    expect(err).toMatch(/the secret in .*(?:must|too few)/);
    expect(err).not.toContain(secret);
  }
  expect((await here.run('webhooks list -o id')).out).toBe('');
});
