/**
 * Mistakes that are planted, each of which the simulator must find within 2,000 seeds. Those with `wrap` are made through the
 * seam, and outlive any rewriting; the others exchange one text of one file, and are pointed at the new place when it moves.
 */
import type { AppHost } from '../../src/app/app-host.ts';
import type { Exchange } from './program.ts';

export interface Mistake {
  readonly name: string;
  readonly exchanges?: readonly Exchange[];
  readonly wrap?: (host: AppHost) => AppHost;
}

export const MISTAKES: readonly Mistake[] = [];
