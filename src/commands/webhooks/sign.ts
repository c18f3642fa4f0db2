import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, needs } from '../../cli/parsing/flag.ts';
import { readSecrets, SECRET_FILE } from './secrets.ts';

/** Signs a payload as the service does. Nothing is sent. */
export const signPayload = command({
  path: 'webhooks sign',
  summary: 'Print the signature of a payload (offline)',
  answers: { one: { signature: tells.text('HMAC-SHA256, 64 lowercase hex digits.') } },
  about: ['HMAC-SHA256 of exactly the bytes of the payload, as 64 lowercase hex digits. Nothing is sent.'],
  reach: 'files',
  flags: {
    payload: needs(local('file', 'File that holds the payload; - for standard input.'), '<file|->'),
    secretFile: SECRET_FILE,
  },
  examples: [
    { does: 'A file', run: 'webhooks sign --payload event.json --secret-file secret.txt' },
    { does: 'From standard input', run: 'webhooks sign --payload - --secret-file secret.txt < event.json' },
  ],
  async run(ctx, { payload, secretFile }) {
    const { sign } = await import('../../contract/signature/signature.ts');
    const [secret] = await readSecrets(ctx, [secretFile]);
    const bytes = await ctx.readBytes(payload);
    return { signature: secret === undefined ? '' : sign(bytes, secret) };
  },
  show: ({ signature }) => ({
    noun: 'signature',
    idField: 'signature',
    columns: [{ field: 'signature', title: 'SIGNATURE', kind: 'id', priority: 1 }],
    blocks: [{ kind: 'line', text: signature, whole: true }],
  }),
});
