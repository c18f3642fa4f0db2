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
import type { Secret } from '../core/secret.ts';
import { keyIdOf, publicBytes } from './request.ts';

/** What the kept text tells without its passphrase. */
export interface PublicKey {
  readonly publicKey: Uint8Array;
  readonly keyid: string;
}

/** `scryptSync` of Node; whoever tries the same passphrase often may remember what came. */
export type Scrypt = (...words: Parameters<typeof scryptSync>) => Buffer;

interface KeptKey {
  readonly type: 'cardwright-approval-key';
  readonly v: 1;
  /** Base64, as all that follow. */
  readonly public: string;
  readonly salt: string;
  readonly iv: string;
  readonly tag: string;
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
  const kept: KeptKey = {
    type: 'cardwright-approval-key',
    v: 1,
    public: Buffer.from(publicBytes(publicKey)).toString('base64'),
    salt: salt.toString('base64'),
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    sealed: sealed.toString('base64'),
  };
  return `${JSON.stringify(kept)}\n`;
}

/** Throws `check_failed` for another text; `place` names it. */
export function readPublicKey(text: string, place: string): PublicKey {
  const publicKey = Buffer.from(keptIn(text, place).public, 'base64');
  return { publicKey, keyid: keyIdOf(publicKey) };
}

/** Throws `not_confirmed` for another passphrase, `check_failed` for another text. */
export function openKey(text: string, place: string, passphrase: Secret, scrypt: Scrypt): KeyObject {
  const kept = keptIn(text, place);
  const part = (name: 'salt' | 'iv' | 'tag' | 'sealed') => Buffer.from(kept[name], 'base64');
  try {
    const decipher = createDecipheriv(CIPHER, wrappingKey(scrypt, passphrase, part('salt')), part('iv'));
    decipher.setAuthTag(part('tag'));
    const der = Buffer.concat([decipher.update(part('sealed')), decipher.final()]);
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
  try {
    const kept = JSON.parse(text) as KeptKey;
    const parts = [kept.public, kept.salt, kept.iv, kept.tag, kept.sealed];
    if (kept.type === 'cardwright-approval-key' && kept.v === 1 && parts.every(part => typeof part === 'string'))
      return kept;
  } catch {
    // Falls through to the one refusal.
  }
  throw new CliError('check_failed', {
    message: `${place} holds no approval key`,
    notes: ['Move it away before a new one is made.'],
    hint: 'cardwright ops keys create',
    outcome: 'not_sent',
  });
}
