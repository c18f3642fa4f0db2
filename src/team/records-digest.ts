/** Digest over the segments of an op, as `records_digest` of the schema makes it. */
import { createHash } from 'node:crypto';
import type { Segment } from './calls.ts';

export function digestOfSegments(segments: readonly Pick<Segment, 'bytes'>[]): string {
  const each = segments.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex'));
  return createHash('sha256').update(each.join('')).digest('hex');
}
