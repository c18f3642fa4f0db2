/** Times as ISO 8601 in UTC. */

/** `2026-11-20T14:03:11Z`; milliseconds only where there are some. `ms` UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The same to the second that has begun. */
export function isoSeconds(ms: number): string {
  return isoTime(Math.floor(ms / 1000) * 1000);
}
