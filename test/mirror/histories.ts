/** One history: a service that moves while it is copied, by syncs some of which are killed; then it stands still. */
import { CliError } from '../../src/core/errors.ts';
import { chances, type Manners, MovingService } from './moving-service.ts';
import { Killed, syncing } from './syncing.ts';

const HOUR = 3_600_000;

/** Ways of a service; each history takes the next. */
export const MANNERS: readonly Manners[] = [
  {},
  { deletes: true },
  { backdates: true },
  { totals: false },
  { endsExcluded: true, deletes: true },
  { filters: false },
  { filters: false, deletes: true },
  { filters: false, order: 'any' },
  { order: 'any', deletes: true },
  { steps: 3 },
];

export interface Told {
  readonly manners: Manners;
  readonly held: readonly string[];
  readonly truth: readonly string[];
  readonly kills: number;
  readonly syncs: number;
}

/** Plays the history of a seed, `syncs` syncs long. */
export async function history(seed: number, syncs: number): Promise<Told> {
  const manners = MANNERS[seed % MANNERS.length] ?? {};
  const service = new MovingService(seed, manners);
  const chance = chances(seed + 1_000_000);
  service.live(60 + Math.floor(chance() * 200), 2 * HOUR);
  await using world = await syncing(service);
  let kills = 0;
  for (let number = 0; number < syncs; number += 1) {
    const fate = chance();
    if (fate < 0.5) world.killAtCommit = 1 + Math.floor(chance() * 14);
    else if (fate < 0.75) service.failAt = service.requests + 1 + Math.floor(chance() * 20);
    try {
      await world.mirror.sync();
    } catch (error) {
      if (!(error instanceof Killed || error instanceof CliError)) throw error;
      kills += 1;
    }
    world.killAtCommit = Number.POSITIVE_INFINITY;
    service.failAt = Number.POSITIVE_INFINITY;
    service.live(Math.floor(chance() * 12), chance() < 0.3 ? 30 * HOUR : HOUR / 6);
  }
  // It stands still, and a day has gone by, so that days are audited.
  service.moves = false;
  service.now += 25 * HOUR;
  await world.mirror.sync();
  return { manners, held: await world.held(), truth: service.truth(), kills, syncs };
}
