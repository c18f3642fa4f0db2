/**
 * Under which addresses an API key was used on this machine. What is kept by address, names and keys of callers, is looked for
 * at all of them: one account may be reached as `localhost`, at another port, through a proxy.
 */
import { CliError } from '../../core/errors.ts';
import type { PlanRecord } from '../wal/records.ts';
import { type LocalOps, localHeads } from './local-ops.ts';

/** One key at one address. */
export type UsedAt = Pick<PlanRecord, 'origin' | 'mode' | 'key_print'>;

/** Waiting for another process that notes an address, ms. */
const NOTE_PATIENCE_MS = 10_000;

/**
 * Every address of the key, the asked one among them. Throws `check_failed` for a file that nobody can read: an address that
 * is not known hides what was done there.
 */
export async function addressesOf(local: LocalOps, used: UsedAt): Promise<readonly string[]> {
  if (used.mode === 'sandbox') return [used.origin];
  const noted = (await notedIn(local)) ?? (await addressesInPlans(local));
  return [...new Set([used.origin, ...noted.filter(each => isKeyOf(each, used)).map(({ origin }) => origin)])];
}

/** Notes the address of a plan, durably, before the plan is there. */
export async function noteAddress(local: LocalOps, { origin, mode, key_print }: UsedAt): Promise<void> {
  if (mode === 'sandbox') return;
  const used = { origin, mode, key_print };
  const has = (all: readonly UsedAt[] | undefined) => all?.some(each => isKeyOf(each, used) && each.origin === origin);
  if (has(await notedIn(local)) === true) return;
  const { disk, places } = local;
  const release = await disk.hold(`${places.addresses}.lock`, NOTE_PATIENCE_MS);
  try {
    const noted = (await notedIn(local)) ?? (await addressesInPlans(local));
    if (has(noted) !== true || (await notedIn(local)) === undefined)
      await disk.replace(places.addresses, `${JSON.stringify(has(noted) === true ? noted : [...noted, used])}\n`);
  } finally {
    await release();
  }
}

function isKeyOf(one: UsedAt, other: UsedAt): boolean {
  return one.mode === other.mode && one.key_print === other.key_print;
}

/** Undefined where no release has noted any. */
async function notedIn({ disk, places }: LocalOps): Promise<readonly UsedAt[] | undefined> {
  const text = await disk.read(places.addresses);
  if (text === undefined) return undefined;
  try {
    const noted: unknown = JSON.parse(text);
    if (Array.isArray(noted) && noted.every(isUsedAt)) return noted;
  } catch {
    // Not JSON.
  }
  throw new CliError('check_failed', {
    message: `${places.addresses} is damaged: at which addresses an API key was used is unknown`,
    notes: ['Remove it: the next command makes it anew from the operations that are here.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

/** What releases without that file have begun. */
async function addressesInPlans(local: LocalOps): Promise<readonly UsedAt[]> {
  const found = new Map<string, UsedAt>();
  for await (const head of localHeads(local, {})) {
    const plan = await head.plan();
    if (plan === undefined || plan.mode === 'sandbox') continue;
    const { origin, mode, key_print } = plan;
    found.set(`${mode}\n${key_print}\n${origin}`, { origin, mode, key_print });
  }
  return [...found.values()];
}

function isUsedAt(entry: unknown): entry is UsedAt {
  const { origin, mode, key_print } = (entry ?? {}) as Partial<Record<string, unknown>>;
  return [origin, mode, key_print].every(value => typeof value === 'string');
}
