/** `expose()` is the one way to the text of a secret: who calls it is a short list, each with its reason. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const source = join(import.meta.dirname, '..', '..', 'src');

const MAY_EXPOSE: Readonly<Record<string, string>> = {
  'core/secret.ts': 'declares it',
  'app/reveal.ts': 'last four of a number, for the audit log, and the place that was asked for',
  'client/request.ts': 'the header',
  'client/encode.ts': 'a body that holds a signing secret',
  'client/decode.ts': 'reading a secret out of an answer, and the shape of number and code',
  'client/sandbox-file.ts': 'the header',
  'app/sandbox.ts': 'key and token of the sandbox, for the program or the command that is given it',
  'commands/sandbox/server.ts': 'key and token of a new account, told once to who made it',
  'client/redact.ts': 'what must be taken out',
  'commands/webhooks/subscriptions.ts': 'a signing secret that was chosen, for the request',
  'commands/webhooks/verify.ts': 'white space around a signing secret',
  'commands/webhooks/listen.ts': 'the signing secret of its own subscription, for the request',
  'app/run.ts': 'what must be taken out of the answer',
  'contract/signature/signature.ts': 'signing, checking, and explaining a wrong signature',
  'library/client.ts': 'values of an answer, for the program that asked by name',
  'core/key-print.ts': 'a keyed digest of the key',
  'profile/parts.ts': 'its prefix',
  'profile/keychain.ts': 'the standard input of the keychain',
  'profile/profile-file.ts': 'the profile file',
  'profile/store.ts': 'checking its form',
  'approvals/keys.ts': 'a passphrase, for the key that opens an approval key',
  'app/journal-admin.ts': 'an approval key out of the keychain, which is sealed itself',
  'commands/ops/approvals.ts': 'a new passphrase: its length, and whether it was typed twice the same',
};

/** The sandbox is the service's side; it checks and sends what it handed out. */
const SERVICE_SIDE = /^sandbox\//;

/**
 * A digest of a card number is the number to whoever tries all of them, so none is made (docs/design/security.md, D14).
 */
const MAY_HASH = [
  'approvals/request.ts',
  'audit/log.ts',
  'books/statement-lines.ts',
  'commands/books/export.ts',
  // A text that is shown: how to check a signature in a program.
  'contract/signature/checks.ts',
  'contract/signature/signature.ts',
  'core/key-print.ts',
  'events/listener.ts',
  // What a machine and its boot are called, in the name of a process that others see.
  'files/processes.ts',
  'fleet/plan-file.ts',
  'fleet/step.ts',
  'journal/chain.ts',
  'journal/digest.ts',
  'mirror/sync.ts',
  'profile/store.ts',
  'sandbox/admin/deliveries.ts',
  'sandbox/archive/archives.ts',
  'sandbox/calls/deterministic-ids.ts',
  'sandbox/page/inspector-sessions.ts',
  'sandbox/requests/exchange.ts',
  'sandbox/requests/execute.ts',
  'sandbox/serving/accounts.ts',
  'writers/accounts.ts',
];

it('nobody makes a digest of what is not in a short list: lines, requests, folders, files, keys and seeds', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
  const digest = /\bcreateHash\(|\bcreateHmac\(|\bhash\('sha/;
  const hashing = files.filter(name => digest.test(readFileSync(join(source, name), 'utf8')));
  expect(hashing.sort()).toEqual(MAY_HASH);
});

it('nobody exposes a secret without a reason', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
  const exposing = files.filter(name => readFileSync(join(source, name), 'utf8').includes('.expose()'));
  const unexpected = exposing.filter(name => !SERVICE_SIDE.test(name) && MAY_EXPOSE[name] === undefined);
  expect(unexpected).toEqual([]);
});
