/**
 * The key of an approver: ed25519, as PKCS8 under AES-256-GCM with a key that scrypt makes of a passphrase. It lies in a
 * file or in the keychain; who takes it has nothing without the passphrase, and no program approves with it unattended.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  type scryptSync,
} from 'node:crypto';
import { CliError } from '../core/errors.ts';
import { jsonOrUndefined } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { keyIdOf, publicBytes } from './request.ts';

/** `scryptSync` of Node; whoever tries the same passphrase often may remember what came. */
export type Scrypt = (...words: Parameters<typeof scryptSync>) => Buffer;

interface KeptKey {
  readonly type: 'cardwright-approval-key';
  readonly v: 1;
  /** Base64, as what follows. */
  readonly public: string;
  /** Salt, iv and tag, 16, 12 and 16 bytes, and the key. */
  readonly sealed: string;
}

/** 32 MB and a tenth of a second a try. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 } as const;
const CIPHER = 'aes-256-gcm';
/** PrivateKeyInfo of ed25519 (RFC 8410) before the 32 bytes of the key. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A new key as the text that is kept. */
export function createKey(
  passphrase: Secret,
  { random, scrypt }: { readonly random: (count: number) => Uint8Array; readonly scrypt: Scrypt },
): string {
  const der = Buffer.concat([PKCS8_ED25519, random(32)]);
  const publicKey = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  const [salt, iv] = [Buffer.from(random(16)), Buffer.from(random(12))];
  const cipher = createCipheriv(CIPHER, wrappingKey(scrypt, passphrase, salt), iv);
  const sealed = Buffer.concat([cipher.update(der), cipher.final()]);
  const whole = Buffer.concat([salt, iv, cipher.getAuthTag(), sealed]);
  const kept: KeptKey = {
    type: 'cardwright-approval-key',
    v: 1,
    public: Buffer.from(publicBytes(publicKey)).toString('base64'),
    sealed: whole.toString('base64'),
  };
  return `${JSON.stringify(kept)}\n`;
}

/** What the kept text tells without its passphrase. Throws `check_failed` for another text; `place` names it. */
export function readPublicKey(text: string, place: string) {
  const publicKey: Uint8Array = Buffer.from(keptIn(text, place).public, 'base64');
  return { publicKey, keyid: keyIdOf(publicKey) };
}

/** Throws `not_confirmed` for another passphrase, `check_failed` for another text. */
export function openKey(text: string, place: string, passphrase: Secret, scrypt: Scrypt): KeyObject {
  const whole = Buffer.from(keptIn(text, place).sealed, 'base64');
  try {
    const key = wrappingKey(scrypt, passphrase, whole.subarray(0, 16));
    const decipher = createDecipheriv(CIPHER, key, whole.subarray(16, 28));
    decipher.setAuthTag(whole.subarray(28, 44));
    const der = Buffer.concat([decipher.update(whole.subarray(44)), decipher.final()]);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new CliError('not_confirmed', {
      message: `the passphrase of the approval key in ${place} is another one. Nothing was signed`,
      reason: 'passphrase',
      outcome: 'not_sent',
      cause,
    });
  }
}

function wrappingKey(scrypt: Scrypt, passphrase: Secret, salt: Uint8Array): Buffer {
  return scrypt(passphrase.expose().normalize('NFC'), salt, 32, SCRYPT);
}

function keptIn(text: string, place: string): KeptKey {
  const kept = jsonOrUndefined(text) as KeptKey | undefined;
  const isOurs = kept?.type === 'cardwright-approval-key' && kept.v === 1;
  if (isOurs && typeof kept.public === 'string' && typeof kept.sealed === 'string') return kept;
  throw new CliError('check_failed', {
    message: `${place} holds no approval key`,
    notes: ['Move it away before a new one is made.'],
    hint: 'cardwright ops keys create',
    outcome: 'not_sent',
  });
}
