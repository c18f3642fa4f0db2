/** Length of an injected delay; the seed fixes its random part. */
import type { Latency } from '../../contract/sandbox/fault-rule.ts';
import { fractionOf } from '../calls/deterministic-ids.ts';

const LONGEST = 600_000;

/** Real ms; the same for the same `source`. */
export function drawnWait(latency: Latency, source: string): number {
  if ('fixed' in latency) return latency.fixed;
  if ('uniform' in latency) {
    const { min, max } = latency.uniform;
    return min + Math.floor(fractionOf(`${source} uniform`) * (max - min + 1));
  }
  const { median, sigma } = latency.lognormal;
  return Math.min(LONGEST, Math.round(median * Math.exp(sigma * normal(source))));
}

/** Box and Muller: two even numbers make a normal one. */
function normal(source: string): number {
  const one = 1 - fractionOf(`${source} normal 1`);
  const other = fractionOf(`${source} normal 2`);
  return Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * other);
}
