/** keys, keys.create, and what a key that was made is good for. */
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import type { KeyAccess } from '../../contract/sandbox/keys.ts';
import { digestOf } from '../../core/key-print.ts';
import { Secret } from '../../core/secret.ts';
import { Refused } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import type { Route } from '../http/routing.ts';
import { isoTime } from '../rules/dates.ts';
import type { ServiceParts } from '../service/service.ts';
import { type ApiKeyRow, allApiKeys, apiKeyByDigest, insertApiKey } from '../store/api-keys.ts';
import { bearerIn } from './authorize.ts';

export async function listKeys({ store, account }: ServiceParts): Promise<ReplyOf<AdminOperations['keys']>> {
  const rows = await store.read(sql => allApiKeys(sql, account));
  return { data: rows.map(shown), page: {} };
}

/** 256 random bits, whatever the seed: a key that can be foretold is none. */
export async function createKey(
  { store, account, clock, random }: ServiceParts,
  { access = 'full' }: { readonly access?: KeyAccess },
): Promise<ReplyOf<AdminOperations['keys.create']>> {
  const key = `sk_test_${Buffer.from(random.bytes(32)).toString('base64url')}`;
  const id = `key_${Buffer.from(random.bytes(12)).toString('hex')}`;
  const row = await store.write(async sql => {
    const created_at = await sandboxNow(sql, account, clock.now());
    const made: ApiKeyRow = { id, digest: digestOf(key), last4: key.slice(-4), access, created_at };
    await insertApiKey(sql, account, made);
    return made;
  });
  return { ...shown(row), key: new Secret(key) };
}

/**
 * Lets in whoever shows a key that was made, as far as it reaches. Throws what `unknown` is for any other, and
 * `unauthorized` for a revoked one, `forbidden` where one that only reads would change or reveal something.
 */
export async function admitMadeKey(
  { store, account }: ServiceParts,
  { route, header, unknown }: { readonly route: Route; readonly header: string | undefined; readonly unknown: Refused },
): Promise<void> {
  const given = bearerIn(header);
  if (given === undefined || unknown.refusal !== 'unauthorized') throw unknown;
  const made = await store.read(sql => apiKeyByDigest(sql, account, digestOf(given)));
  if (made === undefined) throw unknown;
  if (made.access === 'revoked') throw new Refused('unauthorized', 'The key was revoked.');
  if (made.access === 'read_only' && route.row.effect !== 'read') {
    throw new Refused('forbidden', 'The key may read, and nothing else.');
  }
}

function shown({ id, last4, access, created_at }: ApiKeyRow) {
  return { id, last4, access, created_at: isoTime(created_at) };
}
