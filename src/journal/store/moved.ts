/**
 * Services whose ops were moved from the files of this machine to a shared journal, or are begun there: nothing more is begun
 * or gone on with here. The note of it is durable before the first op is there (docs/design/team.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { LocalOps } from './local-ops.ts';

/** Waiting for another process that notes something, ms. */
const NOTE_PATIENCE_MS = 10_000;
/** Name of the profile where the key came from the environment. */
const KEY_OF_ENVIRONMENT = 'env';

export interface MovedTo extends Pick<PlanRecord, 'origin' | 'mode'> {
  /** Identifier of the shared journal, and the account in it. */
  readonly journal: string;
  readonly account: string;
  /** Of the API key on this machine; left out by older releases, and by the first command over a shared journal. */
  readonly key_print?: string;
  /** Of the API key as that account knows it; left out by moves of older releases. */
  readonly account_print?: string;
  /** Nothing was moved: a command of this machine has begun an op there. */
  readonly began?: true;
  /** Where it was reached first, without a password; left out by older releases. */
  readonly address?: string;
  /** All of them are there. Left out while they are moved, and where that was cut off. */
  readonly complete?: true;
  /** They are on their way back, by the only operator of the account or because an admin has frozen it. Cut off where it stays. */
  readonly back?: 'mine' | 'frozen';
}

/** What goes on with a move that did not end, by where its operations are on their way to. */
const MOVE_AGAIN = {
  shared: 'cardwright journal move --to shared',
  mine: 'cardwright journal move --to local --mine',
  frozen: 'cardwright journal move --to local',
};

/** Where they are on their way to; undefined where all of them are there, or none was moved. */
export function wayOf({ began, complete, back }: MovedTo): keyof typeof MOVE_AGAIN | undefined {
  return back ?? (began === true || complete === true ? undefined : 'shared');
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
export async function movedBy(
  notes: readonly MovedTo[],
  plan: Service & Pick<PlanRecord, 'key_print'>,
  accountPrint: AccountPrint,
): Promise<MovedTo | undefined> {
  const ofService = notes.find(each => isOf(each, plan));
  if (ofService !== undefined) return ofService;
  for (const note of notes) {
    if (note.mode !== plan.mode) continue;
    if (note.key_print === plan.key_print || note.account_print === (await accountPrint(note.account))) return note;
  }
  return undefined;
}

/**
 * A command over the shared journal of a note (`ops list`), to be copied: with what names that journal. Undefined where
 * nobody knows how it is reached.
 */
export type OverShared = (note: MovedTo, command: string) => Promise<string | undefined>;

/** By its address, which has no password. */
export const byAddress: OverShared = async ({ account, address }, command) =>
  address === undefined
    ? undefined
    : `CARDWRIGHT_JOURNAL_ACCOUNT=${account} cardwright ${command} --journal ${shellWord(address)}`;

/** Of the API key of this run, as an account of a shared journal knows it. */
export type AccountPrint = (account: string) => Promise<string>;

function isMoved(entry: unknown): entry is MovedTo {
  const { origin, mode, journal, account } = (entry ?? {}) as Partial<Record<string, unknown>>;
  return [origin, mode, journal, account].every(value => typeof value === 'string');
}

/** One note for each API key of an account; several accounts of a service have notes of their own. Durable. */
export function noteMoved(local: LocalOps, to: MovedTo): Promise<void> {
  return changeNotes(local, notes => [...notes.filter(each => !isSameNote(each, to)), to]);
}

/** Durable. */
export function forgetMoved(local: LocalOps, gone: (note: MovedTo) => boolean): Promise<void> {
  return changeNotes(local, notes => notes.filter(each => !gone(each)));
}

type Notes = readonly MovedTo[];

async function changeNotes(local: LocalOps, change: (notes: Notes) => Notes): Promise<void> {
  const { disk, places } = local;
  const release = await disk.hold(`${places.moved}.lock`, NOTE_PATIENCE_MS);
  try {
    await disk.replace(places.moved, `${JSON.stringify(change(await movedFrom(local)))}\n`);
  } finally {
    await release();
  }
}

function isSameNote(one: MovedTo, other: MovedTo): boolean {
  const isSameKey = (one.account_print ?? other.account_print) === other.account_print;
  return isOf(one, other) && isInAccount(one, other) && isSameKey;
}

export function isInAccount(note: MovedTo, { journal, account }: Pick<MovedTo, 'journal' | 'account'>): boolean {
  return note.journal === journal && note.account === account;
}

/**
 * Notes of other shared journals, or of another account, in which the card account of this run is used: by its API key, or
 * by its service where the note has no print of a key.
 */
export async function notedElsewhere(
  notes: readonly MovedTo[],
  here: Service & Pick<MovedTo, 'journal' | 'account'>,
  accountPrint: AccountPrint,
): Promise<readonly MovedTo[]> {
  const found: MovedTo[] = [];
  for (const note of notes) {
    if (isInAccount(note, here) || note.mode !== here.mode) continue;
    const { account_print: print } = note;
    const isUsed = print === undefined ? isOf(note, here) : print === (await accountPrint(note.account));
    if (isUsed) found.push(note);
  }
  return found;
}

type Service = Pick<PlanRecord, 'origin' | 'mode'>;

export function isOf(one: Service, other: Service): boolean {
  return one.origin === other.origin && one.mode === other.mode;
}

export function onlyFreezes({ capability }: Pick<PlanRecord, 'capability'>): boolean {
  return Object.keys(capability).every(operation => operation === 'cards.freeze');
}

interface Refusing {
  readonly accountPrint: AccountPrint;
  readonly overShared?: OverShared | undefined;
  /** A new op; one that was begun here before is gone on with at an address that no shared journal knows. */
  readonly begins?: boolean;
  /** Nothing is sent, and what is not there yet comes along with the rest. */
  readonly settles?: boolean | undefined;
}

/**
 * Throws `guarded` where the ops of its service were moved, or are begun over a shared journal. Asked with a lock in hand that
 * `refuseWorking` looks at, so that of such a note and an op that is begun at least the later one sees the other. Freezing a
 * card waits for nobody.
 */
export async function refuseMoved(
  local: LocalOps,
  plan: PlanRecord,
  { accountPrint, begins = false, settles = false, overShared = byAddress }: Refusing,
): Promise<void> {
  const notes = await movedFrom(local);
  if (notes.length === 0 || onlyFreezes(plan)) return;
  // What was begun at another address before is not in the shared journal: it is settled here.
  const to = begins ? await movedBy(notes, plan, accountPrint) : notes.find(each => isOf(each, plan));
  if (to === undefined || (settles && to.complete !== true)) return;
  if (!isOf(to, plan)) throw keyShared(to, plan);
  const way = wayOf(to);
  if (way !== undefined)
    throw cutOff(to, plan, { way, again: await overShared(to, MOVE_AGAIN[way].replace('cardwright ', '')) });
  const next = begins ? 'journal status' : `ops resume ${plan.op}`;
  throw serviceShared(to, plan, {
    next: await overShared(to, next),
    back: await overShared(to, 'journal move --to local'),
  });
}

/** Where the ops of a service are, in words that follow its address. */
export function whereIs({ account, journal, began }: MovedTo): string {
  const there = `the account ${account} of the shared journal ${journal}`;
  return began === true ? `are begun in ${there}` : `were moved to ${there}`;
}

interface OnTheWay {
  readonly way: keyof typeof MOVE_AGAIN;
  /** The command with what names the journal; where it is left out the run names it. */
  readonly again?: string | undefined;
}

/** Neither journal has all of them: nothing is begun in either until the move has ended. */
export function cutOff({ account, journal }: MovedTo, { origin }: Service, { way, again }: OnTheWay): CliError {
  const there = `the account ${account} of the shared journal ${journal}`;
  const goes =
    way === 'shared'
      ? `to ${there}, and not all of them are there`
      : `back from ${there}, and not all of them are here`;
  return new CliError('guarded', {
    message: `the operations of ${origin} are on their way ${goes}`,
    notes: ['The move goes on where it ended, and names what is in its way.'],
    hint: again ?? MOVE_AGAIN[way],
    overShared: true,
    outcome: 'not_sent',
  });
}

interface Ways {
  readonly next: string | undefined;
  readonly back: string | undefined;
}

function serviceShared(to: MovedTo, { origin }: PlanRecord, { next, back }: Ways): CliError {
  return new CliError('guarded', {
    message: `the operations of ${origin} ${whereIs(to)} on this machine`,
    notes: [
      'Begun here, the same change could be made a second time. Where the database is away, wait for it. A profile keeps the address: cardwright profiles set <name> journal <address>',
      `Who goes on with this machine alone brings all of them back first: ${back ?? 'cardwright journal move --to local'}`,
    ],
    hint: next ?? 'cardwright journal status --help',
    overShared: true,
    outcome: 'not_sent',
  });
}

function keyShared(to: MovedTo, plan: PlanRecord): CliError {
  const { origin } = to;
  return new CliError('guarded', {
    message: `the API key of this run is used at ${origin}, whose operations ${whereIs(to)}; this run acts at ${plan.origin}`,
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
