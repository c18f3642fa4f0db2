/** The spend guards of a profile: what one operation, one run and one day may take from the wallet. */

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, dollars, parseAmount, sumCents } from '../core/money.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { SpendHold, Spending } from '../core/spending.ts';
import { type LockOptions, withLock } from '../files/lock.ts';
import {
  type FileDependencies,
  inOurWords,
  preparePrivateFolder,
  readPrivate,
  writePrivate,
} from '../files/private-files.ts';
import type { ProfileSettings } from './settings.ts';

export interface SpendDependencies {
  readonly profile: string;
  readonly settings: ProfileSettings;
  /** The state folder; the days are kept in `spend` below it, one file a profile. */
  readonly stateFolder: string;
  readonly files: FileDependencies;
  readonly lock: Omit<LockOptions, 'timeoutMs' | 'signal'>;
  /** A dry run: what is asked is held against the limits, and nothing is written. */
  readonly dryRun?: boolean | undefined;
  /** What the journal knows of this profile: cents by operation. */
  readonly journaled: (asked: JournaledSince) => Promise<ReadonlyMap<string, Cents>>;
}

/** See `SpentSince` of the journal. */
export interface JournaledSince {
  readonly since: number;
  readonly writtenSince: number;
}

/**
 * What the journal does not know of a day (UTC): `held` is what runs that have not ended may still send, by the
 * operation once it has a name, and `spent` what was sent without the journal, by a probe of keys.
 */
interface Day {
  readonly day: string;
  readonly spent: Cents;
  readonly held: Readonly<Record<string, Cents>>;
}

const LIMITS = ['max_per_call', 'max_per_run', 'max_per_day', 'max_cards', 'bins'] as const;
const LOCK_WAIT_MS = 10_000;
/** A journal that was not written for so long holds nothing of today, in whatever time zone and after a leap of the clock. */
const JOURNAL_AGE_MS = 2 * DAY;
const NOTHING_HELD: SpendHold = {
  nameOp: async () => undefined,
  end: async () => undefined,
  abandon: async () => undefined,
};

/**
 * Holds what is asked against the limits. Throws `guarded` naming the limit, what is used of it and what was asked,
 * and `check_failed` for a day file that cannot be understood.
 */
export async function holdSpending(
  around: SpendDependencies,
  spending: Spending,
  resumed?: string,
): Promise<SpendHold> {
  const wrong = overLimit(around.profile, around.settings, spending);
  if (wrong !== undefined) throw wrong;
  const limit = amountOf(around.settings.max_per_day);
  if (limit === undefined || spending.total === 0) return NOTHING_HELD;
  const wanted = { limit, asked: spending.total, resumed };
  return around.dryRun ? wouldHoldToday(around, wanted) : holdToday(around, wanted);
}

/** The limits that need no memory. */
export function overLimit(profile: string, settings: ProfileSettings, spending: Spending): CliError | undefined {
  const { largest, total, cards, bins, untold } = spending;
  const limit = LIMITS.find(name => settings[name] !== undefined);
  if (untold && limit !== undefined)
    return refusal(profile, limit, 'set, and what this request moves cannot be counted');
  const refuse = (name: keyof ProfileSettings, limit: string, asked: string) =>
    refusal(profile, name, `${limit}; ${asked} asked`);
  const perCall = amountOf(settings.max_per_call);
  if (perCall !== undefined && largest > perCall) {
    return refuse('max_per_call', `${dollars(perCall)} for one operation`, dollars(largest));
  }
  const perRun = amountOf(settings.max_per_run);
  if (perRun !== undefined && total > perRun)
    return refuse('max_per_run', `${dollars(perRun)} for one run`, dollars(total));
  const most = settings.max_cards;
  if (most !== undefined && cards > most) return refuse('max_cards', `${most} for one run`, String(cards));
  const foreign = settings.bins === undefined ? [] : [...bins].filter(bin => !settings.bins?.includes(bin));
  if (foreign.length === 0) return undefined;
  return refuse('bins', (settings.bins ?? []).join(', '), foreign.join(', '));
}

interface Wanted {
  readonly limit: Cents;
  readonly asked: Cents;
  readonly resumed: string | undefined;
}

async function holdToday(around: SpendDependencies, { limit, asked, resumed }: Wanted): Promise<SpendHold> {
  const { random, clock } = around.lock;
  let name = resumed ?? `run-${Buffer.from(random.bytes(8)).toString('hex')}`;
  let named = resumed !== undefined;
  let wasHeld = false;
  const today = todayAt(clock.now());
  await change(around, async (before, lockedAt) => {
    const day = dayFrom(before, today);
    // A run that was killed holds its whole plan still.
    wasHeld = resumed !== undefined && day.held[resumed] !== undefined;
    if (wasHeld) return day;
    const journaled = await refuseOverDay(around, { day, limit, asked, writtenSince: lockedAt - JOURNAL_AGE_MS });
    // What is held stands for all that the op spends: of one that is taken up again, what it has spent already too.
    return { ...day, held: { ...day.held, [name]: cents(asked + (journaled.get(name) ?? 0)) } };
  });
  /** Takes the amount of this run off what is held; on another day there is nothing to take. */
  const changeHeld = (work: (day: Day, amount: Cents) => Day) =>
    change(around, async day => {
      const { [name]: amount, ...held } = day?.held ?? {};
      return day === undefined || amount === undefined ? day : work({ ...day, held }, amount);
    });
  return {
    async nameOp(op) {
      await changeHeld((day, amount) => ({ ...day, held: { ...day.held, [op]: amount } }));
      name = op;
      named = true;
    },
    // What a named operation has spent is in its journal.
    end: unspent =>
      changeHeld((day, amount) => (named ? day : { ...day, spent: cents(day.spent + Math.max(0, amount - unspent)) })),
    async abandon() {
      if (!wasHeld) await changeHeld(day => day);
    },
  };
}

/** The same question without an answer that is kept: another command may hold the rest before the run comes. */
async function wouldHoldToday(around: SpendDependencies, { limit, asked }: Wanted): Promise<SpendHold> {
  const now = around.lock.clock.now();
  const path = dayFile(around);
  const day = dayFrom(readDay(await readPrivate(path, around.files), path), todayAt(now));
  await refuseOverDay(around, { day, limit, asked, writtenSince: now - JOURNAL_AGE_MS });
  return NOTHING_HELD;
}

interface AskedOfDay {
  readonly day: Day;
  readonly limit: Cents;
  readonly asked: Cents;
  /** Journals that were not written since then hold nothing of the day; ms. */
  readonly writtenSince: number;
}

/** What the journal knows of the day, by operation. Throws `guarded` where it leaves too little. */
async function refuseOverDay(around: SpendDependencies, { day, limit, asked, writtenSince }: AskedOfDay) {
  const since = Date.parse(`${day.day}T00:00:00Z`);
  const journaled = await around.journaled({ since, writtenSince });
  const known = [...journaled].filter(([op]) => day.held[op] === undefined).map(([, amount]) => amount);
  const used = sumCents([day.spent, ...Object.values(day.held), ...known]);
  if (used + asked <= limit) return journaled;
  const standing = `${dollars(limit)} for a day; ${dollars(used)} used today (UTC), ${dollars(asked)} asked`;
  throw refusal(around.profile, 'max_per_day', standing);
}

function todayAt(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** After a clock that was ahead, what is held is still held: the journal itself counts from today on, without end. */
function dayFrom(before: Day | undefined, today: string): Day {
  if (before !== undefined && before.day >= today) return { ...before, day: today };
  return { day: today, spent: cents(0), held: {} };
}

function dayFile({ stateFolder, profile }: SpendDependencies): string {
  return join(stateFolder, 'spend', `${profile}.json`);
}

/** Changes the file of the day under its lock; `lockedAt` is now by the clock of the file system, ms. */
async function change(
  around: SpendDependencies,
  work: (day: Day | undefined, lockedAt: number) => Promise<Day | undefined>,
): Promise<void> {
  const path = dayFile(around);
  await preparePrivateFolder(dirname(path), around.files);
  await withLock(`${path}.lock`, { ...around.lock, timeoutMs: LOCK_WAIT_MS }, async () => {
    const before = readDay(await readPrivate(path, around.files), path);
    const { mtimeMs } = await inOurWords(path, () => stat(`${path}.lock`));
    const after = await work(before, mtimeMs);
    if (after !== undefined && after !== before) await writePrivate(path, `${JSON.stringify(after)}\n`, around.files);
  });
}

function readDay(text: string | undefined, path: string): Day | undefined {
  if (text === undefined) return undefined;
  try {
    const { day, spent, held } = JSON.parse(text) as Partial<Day>;
    if (typeof held !== 'object' || held === null || Array.isArray(held)) throw new TypeError('held is no record');
    const amounts = [spent, ...Object.values(held)];
    if (typeof day === 'string' && /^\d{4}-\d\d-\d\d$/.test(day) && amounts.every(Number.isSafeInteger))
      return { day, spent, held } as Day;
  } catch {
    // Falls through to the one refusal: what is not JSON is as damaged as what has no day.
  }
  throw new CliError('check_failed', {
    message: `${path} is damaged: what was spent today is not known; nothing was sent. Look into the file, then remove it`,
    hint: `cat ${shellWord(path)}`,
    outcome: 'not_sent',
  });
}

function refusal(profile: string, name: keyof ProfileSettings, standing: string): CliError {
  return new CliError('guarded', {
    message: `${name} of profile ${profile} is ${standing}`,
    reason: name,
    hint: `cardwright profiles show ${profile}`,
    outcome: 'not_sent',
  });
}

function amountOf(text: string | undefined): Cents | undefined {
  return text === undefined ? undefined : parseAmount(text);
}
