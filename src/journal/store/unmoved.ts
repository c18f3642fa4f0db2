/**
 * Ops in the files of this machine that a shared journal has not been told of. While there are such, the same change could
 * be made once by each of the two (docs/design/team.md, section 6).
 */
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import type { PlanRecord } from '../wal/records.ts';
import { addressesOf } from './addresses.ts';
import { notedIntents } from './local-intents.ts';
import { type LocalOps, localHeads } from './local-ops.ts';
import { cutOff, isOf, type MovedTo, movedFrom, onlyFreezes, wayOf } from './moved.ts';
import { isMovedBack, type MovedBack, stillNamed } from './moved-back.ts';
import type { Claim } from './op-store.ts';

/**
 * Throws `guarded` where this machine has ops of the claim's service that were not moved, and that could be this change or
 * count for it: not finished, written less than 24 hours ago, or with a name or key of this claim. Freezing a card waits for
 * nobody.
 */
export async function refuseUnmoved(local: LocalOps, claim: Claim, by: UnmovedBy): Promise<void> {
  const { record, intents = [] } = claim;
  if (onlyFreezes(record)) return;
  await refuseAtOtherAddress(local, claim, by.keyPrint);
  const { origin, mode, given_key: key } = record;
  if (await isMoved(local, record)) return;
  const names = new Set(intents.map(({ name }) => name));
  const [noted] = names.size === 0 ? [] : (await notedIntents(local, { origin, mode, names })).values();
  if (noted !== undefined)
    throw await notMoved(local, record, by, `The intent ${JSON.stringify(noted.name)} belongs to ${noted.op}.`);
  const user = key === undefined ? undefined : await local.disk.read(local.places.givenKey(origin, key));
  if (user !== undefined)
    throw await notMoved(local, record, by, `The idempotency key ${JSON.stringify(key)} belongs to ${user}.`);
  const why = await unmovedOf(local, record, by.now);
  if (why !== undefined) throw await notMoved(local, record, by, why);
}

export interface UnmovedBy {
  /** ms UTC. */
  readonly now: number;
  /** Print of the API key as the files of this machine have it; undefined where they have none. */
  readonly keyPrint: string | undefined;
  /** The shared journal of the run. */
  readonly here: Pick<MovedTo, 'journal' | 'account'>;
  /** See `stillNamed`. */
  readonly stepsToLocal?: (() => Promise<readonly string[]>) | undefined;
}

/**
 * The same API key at another address is the same account: what is open there, or has a name of this claim, throws
 * `guarded`. `journal move` brings what was begun at the address of the account alone.
 */
async function refuseAtOtherAddress(
  local: LocalOps,
  { record, intents = [] }: Claim,
  key_print?: string,
): Promise<void> {
  if (key_print === undefined) return;
  const { origin, mode } = record;
  const others = (await addressesOf(local, { origin, mode, key_print })).filter(each => each !== origin);
  if (others.length === 0) return;
  const names = new Set(intents.map(({ name }) => name));
  const [noted] = names.size === 0 ? [] : (await notedIntents(local, { origin, mode, names }, others)).values();
  if (noted !== undefined) throw begunElsewhere(noted.op, `has the intent ${JSON.stringify(noted.name)}`, origin);
  for await (const { op, plan: planOf } of localHeads(local, { unfinished: true })) {
    const plan = await planOf();
    if (plan?.key_print !== key_print || plan.mode !== mode || plan.origin === origin || onlyFreezes(plan)) continue;
    throw begunElsewhere(op, `was begun at ${plan.origin} and is not finished`, origin);
  }
}

function begunElsewhere(op: string, why: string, origin: string): CliError {
  return new CliError('guarded', {
    message: `${op} in the folder of this machine ${why}. It has the API key that is used at ${origin} now, and the shared journal does not know it: this could be done a second time`,
    hint: `cardwright ops resume ${op} --journal local`,
    outcome: 'not_sent',
    op,
  });
}

type Service = Pick<PlanRecord, 'origin' | 'mode'>;

/** An op of the service that every change counts with, in a sentence; undefined where there is none, or all were moved. */
export async function unmovedOf(local: LocalOps, service: Service, now: number): Promise<string | undefined> {
  const notes = (await movedFrom(local)).filter(each => isOf(each, service) && each.began !== true);
  if (notes.some(({ complete }) => complete === true)) return undefined;
  // Which of them are there already is known to the move alone.
  if (notes.length > 0)
    return 'They are being moved, and not all of them are there; the move names what is in the way.';
  for await (const { op, plan: planOf } of localHeads(local, { unfinished: true })) {
    if (!(await isElsewhere(planOf, service))) return `${op} is not finished.`;
  }
  for await (const { op, plan: planOf } of localHeads(local, { writtenSince: now - DAY })) {
    if (!(await isElsewhere(planOf, service))) return `${op} is less than 24 hours old.`;
  }
  return undefined;
}

async function isMoved(local: LocalOps, service: Service): Promise<boolean> {
  return (await movedFrom(local)).some(each => isOf(each, service) && each.complete === true);
}

/** A plan that cannot be read may be one of this service. */
async function isElsewhere(planOf: () => Promise<PlanRecord | undefined>, service: Service): Promise<boolean> {
  const plan = await planOf();
  return plan !== undefined && (!isOf(plan, service) || onlyFreezes(plan));
}

async function notMoved(
  local: LocalOps,
  { origin, mode }: PlanRecord,
  { here, stepsToLocal }: UnmovedBy,
  why: string,
): Promise<CliError> {
  const refused = await movedBack(local, { origin, mode, ...here }, stepsToLocal);
  if (refused !== undefined) return refused;
  return new CliError('guarded', {
    message: `the folder of this machine has operations of ${origin} that the shared journal does not know, so this could be done a second time`,
    notes: [why],
    hint: 'cardwright journal move --to shared',
    outcome: 'not_sent',
  });
}

/** The refusal of a run over the shared journal that its ops were moved back from, or are on the way of; else undefined. */
async function movedBack(
  local: LocalOps,
  from: MovedBack,
  stepsToLocal: UnmovedBy['stepsToLocal'],
): Promise<CliError | undefined> {
  for (const note of await movedFrom(local)) {
    const way = isOf(note, from) ? wayOf(note) : undefined;
    if (way !== undefined) return cutOff(note, from, { way });
  }
  if (!(await isMovedBack(local, from))) return undefined;
  const { says, notes, hint } = stillNamed(from, (await stepsToLocal?.()) ?? []);
  return new CliError('guarded', {
    message: `the operations of ${from.origin} ${says}`,
    notes,
    hint,
    outcome: 'not_sent',
  });
}

/**
 * Throws `guarded` for an op of the shared journal that came back to this machine: what was settled here is not known there,
 * and it would be sent once more. Freezing a card waits for nobody.
 */
export async function refuseMovedBack(
  local: LocalOps,
  plan: PlanRecord,
  { here, stepsToLocal }: Pick<UnmovedBy, 'here' | 'stepsToLocal'>,
): Promise<void> {
  if (onlyFreezes(plan)) return;
  const back = await movedBack(local, { origin: plan.origin, mode: plan.mode, ...here }, stepsToLocal);
  if (back !== undefined) throw back.with({ op: plan.op });
}
