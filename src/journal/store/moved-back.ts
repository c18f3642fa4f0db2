/**
 * Services whose ops came back here from a shared journal: both know them, and this machine alone goes on with them
 * (docs/design/team.md, section 6). Over that journal nothing of them is begun or taken up here; for everybody else its database says so.
 */
import type { LocalOps } from './local-ops.ts';
import { isInAccount, isOf, type MovedTo } from './moved.ts';

export type MovedBack = Pick<MovedTo, 'origin' | 'mode' | 'journal' | 'account'>;

/** Durable. */
export async function noteMovedBack(local: LocalOps, from: MovedBack): Promise<void> {
  const { origin, mode, journal, account } = from;
  const others = (await notes(local)).filter(each => !isOf(each, from));
  await write(local, [...others, { origin, mode, journal, account }]);
}

/** The service is in a shared journal again. Durable. */
export async function forgetMovedBack(local: LocalOps, service: Pick<MovedBack, 'origin' | 'mode'>): Promise<void> {
  const all = await notes(local);
  const others = all.filter(each => !isOf(each, service));
  if (others.length < all.length) await write(local, others);
}

/** Whether the ops of this service came from this very account of a shared journal. */
export async function isMovedBack(local: LocalOps, from: MovedBack): Promise<boolean> {
  return (await notes(local)).some(each => isOf(each, from) && isInAccount(each, from));
}

/** Whether ops of any service came from it. */
export async function hasLeft(local: LocalOps, journal: Pick<MovedBack, 'journal' | 'account'>): Promise<boolean> {
  return (await notes(local)).some(each => isInAccount(each, journal));
}

/** What cannot be read says nothing. */
async function notes({ disk, places }: LocalOps): Promise<readonly MovedBack[]> {
  try {
    const read: unknown = JSON.parse((await disk.read(places.movedBack)) ?? '[]');
    return Array.isArray(read) ? read : [];
  } catch {
    return [];
  }
}

function write({ disk, places }: LocalOps, all: readonly MovedBack[]): Promise<void> {
  return disk.replace(places.movedBack, `${JSON.stringify(all)}\n`);
}

/** What still names a shared journal, and the way on, for a person who goes on with this machine alone. */
export interface StillNamed {
  /** In words that follow the address of the service. */
  readonly says: string;
  readonly notes: readonly string[];
  readonly hint: string;
}

/** `steps`: commands behind which nothing names it; none where the line of the command does. */
export function stillNamed({ journal, account }: MovedBack, steps: readonly string[]): StillNamed {
  const [hint = 'cardwright journal move --help'] = steps;
  const last = steps.length === 0 ? 'leave out --journal' : steps.join('; ');
  return {
    says: `were moved back to this machine from the account ${account} of the shared journal ${journal}, which this run still names`,
    notes: [
      `To go on with this machine alone: ${last}`,
      'To go on in the shared journal, an admin ends its freeze. Then: cardwright journal move --to shared',
    ],
    hint,
  };
}
