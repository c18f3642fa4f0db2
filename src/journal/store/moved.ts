/**
 * Services whose ops were moved from the files of this machine to a shared journal: nothing more is begun or gone on with
 * here. The note of it is durable before the first op is moved (docs/design/team.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { LocalOps } from './local-ops.ts';

/** Name of the profile where the key came from the environment. */
const KEY_OF_ENVIRONMENT = 'env';

export interface MovedTo extends Pick<PlanRecord, 'origin' | 'mode'> {
  /** Identifier of the shared journal, and the account in it. */
  readonly journal: string;
  readonly account: string;
  /** Of the API key on this machine; left out by older releases. */
  readonly key_print?: string;
  /** All of them are there. Left out while they are moved, and where that was cut off. */
  readonly complete?: true;
}

/** Throws `check_failed` for a file that nobody can read: it may name any service. */
export async function movedFrom({ disk, places }: LocalOps): Promise<readonly MovedTo[]> {
  const text = await disk.read(places.moved);
  if (text === undefined) return [];
  try {
    const moved: unknown = JSON.parse(text);
    if (Array.isArray(moved) && moved.every(isMoved)) return moved;
  } catch {
    // Not JSON.
  }
  throw new CliError('check_failed', {
    message: `${places.moved} is damaged: which operations of this machine were moved to a shared journal is unknown`,
    notes: ['Put the file back from a copy of the state folder.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

/** The service of a plan, or the key of it under another address: both may lead to one account. */
export function movedBy(notes: readonly MovedTo[], plan: Service & Pick<PlanRecord, 'key_print'>): MovedTo | undefined {
  const sameKey = ({ mode, key_print: print }: MovedTo) => mode === plan.mode && print === plan.key_print;
  return notes.find(each => isOf(each, plan)) ?? notes.find(sameKey);
}

function isMoved(entry: unknown): entry is MovedTo {
  const { origin, mode, journal, account } = (entry ?? {}) as Partial<Record<string, unknown>>;
  return [origin, mode, journal, account].every(value => typeof value === 'string');
}

/** Replaces what is noted of the service; undefined takes it away. Durable. */
export async function noteMoved(local: LocalOps, of: Service, to: MovedTo | undefined): Promise<void> {
  const others = (await movedFrom(local)).filter(each => !isOf(each, of));
  await local.disk.replace(local.places.moved, `${JSON.stringify(to === undefined ? others : [...others, to])}\n`);
}

type Service = Pick<PlanRecord, 'origin' | 'mode'>;

export function isOf(one: Service, other: Service): boolean {
  return one.origin === other.origin && one.mode === other.mode;
}

export function onlyFreezes({ capability }: Pick<PlanRecord, 'capability'>): boolean {
  return Object.keys(capability).every(operation => operation === 'cards.freeze');
}

/**
 * Throws `guarded` where the ops of its service were moved. Asked with a lock in hand that `refuseWorking` looks at, so that
 * of a move and an op that is begun at least the later one sees the other. Freezing a card waits for nobody.
 */
export async function refuseMoved(local: LocalOps, plan: PlanRecord, { begins = false } = {}): Promise<void> {
  const notes = await movedFrom(local);
  // What was begun at another address before is not in the shared journal: it is settled here.
  const to = begins ? movedBy(notes, plan) : notes.find(each => isOf(each, plan));
  if (to === undefined || onlyFreezes(plan)) return;
  if (!isOf(to, plan)) throw keyMoved(to, plan);
  throw new CliError('guarded', {
    message: `the operations of ${plan.origin} were moved to the account ${to.account} of the shared journal ${to.journal}`,
    notes: [
      'Begun here, the same change could be made a second time. A profile keeps the address: cardwright profiles set <name> journal <address>',
    ],
    hint: 'cardwright journal status --help',
    outcome: 'not_sent',
  });
}

function keyMoved({ origin, account, journal }: MovedTo, plan: PlanRecord): CliError {
  return new CliError('guarded', {
    message: `the API key of this run is used at ${origin}, whose operations were moved to the account ${account} of the shared journal ${journal}; this run acts at ${plan.origin}`,
    notes: [
      'Both addresses may lead to one service: begun here, the same change could be made a second time. Use the address that the journal knows, or the API key of another account.',
    ],
    hint:
      plan.profile === KEY_OF_ENVIRONMENT
        ? `export CARDWRIGHT_BASE_URL=${shellWord(origin)}`
        : `cardwright login --profile ${shellWord(plan.profile)} --base-url ${shellWord(origin)}`,
    outcome: 'not_sent',
  });
}
