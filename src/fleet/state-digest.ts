/** What of a card must be as it was when its step was planned. */
import { createHash } from 'node:crypto';
import type { ObservedCard } from './account.ts';

/** Digest of what must not have changed of a card since it was planned; its balance may. */
export function stateDigest(card: ObservedCard): string {
  const metadata = Object.entries(card.metadata ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const { id, status, bin, limit, label, categories, autoFreezeAt } = card;
  const seen = [id, status, bin ?? null, limit ?? null, label, categories ?? null, autoFreezeAt ?? null, metadata];
  return `sha256:${createHash('sha256').update(JSON.stringify(seen)).digest('hex')}`;
}
