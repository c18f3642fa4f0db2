/** What the parts of a shared store share: the calls, the account, and what this machine knows of its chain. */
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import type { JournalDisk } from '../journal/wal/storage.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { PostgresRefusal } from '../postgres/refusal.ts';
import type { JournalHead, JournalOpening, OpHead, UsedIntent } from './calls.ts';
import type { LeftAccount } from './left-account.ts';
import type { Statements } from './statements.ts';

export interface SharedOps {
  statements(): Statements;
  readonly account: string;
  /** Name of the journal: random, made once. */
  readonly journalId: string;
  /** Login role of this process. */
  readonly role: string;
  /** Whether rules of approval were seen in the account. */
  mayHold: boolean;
  /** Name of this machine, for people who look at a lease. */
  readonly host: string;
  /** Identifier of this state folder, which it keeps: two folders of one machine know different things. */
  machine(): Promise<string>;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly disk: JournalDisk;
  /** For people, on standard error. */
  readonly notice: (text: string) => void;
  /** Longest life of one write, ms. */
  readonly writeTotalMs: number;
  readonly head: ChainHead;
  /** What the journal lacks, as far as it was known when it was opened. */
  readonly behind?: Behind | undefined;
  /** An admin has frozen the account: what is unknown can be settled when that has ended. */
  readonly isFrozen?: boolean | undefined;
  /** Set while one machine goes on with the account alone; it may be this one. */
  readonly left?: LeftAccount | undefined;
  /** While the rules of one claim look: what of the unfinished ops they have read already. */
  looking?: Map<string, Promise<readonly OpHead[]>> | undefined;
  /** Lines of what this machine did without asking that were brought when it was opened. */
  readonly notesBrought?: number | undefined;
  /** What was told when it was opened; whoever changes something there drops it. */
  recent?: RecentAnswers | undefined;
  /** Told where the account does not know the API key, so that nothing can have begun in it. */
  keyUnknown?: (() => Promise<void>) | undefined;
  /** Where copies of ops lie while they are worked on, and afterwards those that could not be written to the end. */
  spoolFolder(): Promise<string>;
}

/** What the journal lacks. */
export interface Behind {
  /** In words. */
  readonly why: string;
  /** A backup was restored, and others may have gone on since; otherwise the database is not where the account knows it. */
  readonly isLost: boolean;
}

/** What the database has told lately, so that it need not be asked twice; a claim says when it is no longer true. */
export interface RecentAnswers {
  /** Monotonic ms. */
  readonly at: number;
  readonly unfinished: readonly OpHead[];
  /** Names that were asked for; undefined for a free one. */
  readonly names: Map<string, UsedIntent | undefined>;
}

const RECENT_MS = 5_000;

export function answersOf(
  { unfinished, intents }: Pick<JournalOpening, 'unfinished' | 'intents'>,
  { names, at }: { readonly names: readonly string[]; readonly at: number },
): RecentAnswers {
  return { at, unfinished, names: new Map(names.map(name => [name, intents.find(each => each.name === name)])) };
}

/** Undefined where it is too old. */
export function lately({ recent, clock }: Pick<SharedOps, 'recent' | 'clock'>): RecentAnswers | undefined {
  return recent !== undefined && clock.monotonic() - recent.at < RECENT_MS ? recent : undefined;
}

/** Where the chain stood when we saw it last: a database that does not hold it has lost what was written. */
export interface ChainHead {
  known(): JournalHead | undefined;
  /** How often an admin had accepted a database when the line that is known was seen. */
  accepted(): number;
  /** How often that was by now: lines that are learned from here on are seen after it. */
  accept(times: number): void;
  learn(head: JournalHead): void;
  /** How far the chain was when the account was looked at last; nobody has compared it with what is known. */
  looked(): number;
  look(seq: number): void;
  /** The database has lost what this machine knew, and was told what else it knows: from here on its own head counts. */
  forget(seen: JournalHead): void;
  /** Durable, for the next command. */
  keep(): Promise<void>;
}

/** `earlier` is what an earlier command has kept, as the database was asked about it when the journal was opened. */
export function chainHead(disk: JournalDisk, path: string, earlier: KeptHead | undefined): ChainHead {
  let head = earlier;
  let kept = head?.hash;
  let [looked, accepted] = [0, 0];
  let hasForgotten = false;
  const seenNow = ({ seq, hash }: JournalHead) => ({ seq, hash, accepted });
  return {
    known: () => head && { seq: head.seq, hash: head.hash },
    accepted: () => head?.accepted ?? accepted,
    accept(times) {
      accepted = times;
    },
    learn(seen) {
      if (head === undefined || seen.seq >= head.seq) head = seenNow(seen);
      looked = Math.max(looked, seen.seq);
    },
    forget(seen) {
      head = seenNow(seen);
      hasForgotten = true;
    },
    looked: () => looked,
    look(seq) {
      looked = Math.max(looked, seq);
    },
    async keep() {
      // After a failover another line may have the same number.
      if (head === undefined || head.hash === kept) return;
      const there = hasForgotten ? undefined : await headAt(disk, path);
      // Another command of this machine may have seen more.
      const isBehind = there !== undefined && there.accepted === head.accepted && there.seq > head.seq;
      if (!isBehind) await disk.replace(path, JSON.stringify(head));
      await disk.sweep(path);
      kept = head.hash;
    },
  };
}

/** As it lies in a file of this machine. */
export interface KeptHead extends JournalHead {
  /** See `ChainHead.accepted`. */
  readonly accepted: number;
}

const HEAD = /^\{"seq":(\d{1,15}),"hash":"([0-9a-f]{64})"(?:,"accepted":(\d{1,9}))?\}$/;

/** A file that cannot be read stands for nothing: it only ever adds a check. */
async function headAt(disk: Pick<JournalDisk, 'read'>, path: string): Promise<KeptHead | undefined> {
  const [, seq, hash, accepted = '0'] = HEAD.exec((await disk.read(path)) ?? '') ?? [];
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash, accepted: Number(accepted) };
}

/** Of this account in every journal that this machine knows, by the identifier of the journal. */
export async function headsByJournal(
  disk: JournalDisk,
  stateFolder: string,
  account: string,
): Promise<Readonly<Record<string, KeptHead>>> {
  const root = join(stateFolder, 'team');
  const heads: Record<string, KeptHead> = {};
  for (const journalId of await disk.folders(root)) {
    const head = await headAt(disk, placesOf(stateFolder, { journalId, account }).head);
    if (head !== undefined) heads[journalId] = head;
  }
  return heads;
}

/** Kept in a file from the first call on, 16 hexadecimal digits. */
export function machineId({ disk, random }: Pick<SharedOps, 'disk' | 'random'>, path: string): SharedOps['machine'] {
  let known: Promise<string> | undefined;
  const readOrMake = async (): Promise<string> => {
    const wanted = Buffer.from(random.bytes(8)).toString('hex');
    // Of two commands that begin at once the first one counts.
    const kept = (await disk.note(path, wanted)) ? wanted : await disk.read(path);
    if (kept !== undefined && /^[0-9a-f]{16}$/.test(kept)) return kept;
    await disk.replace(path, wanted);
    return wanted;
  };
  return () => {
    known ??= readOrMake();
    return known;
  };
}

/** Below the state folder: what this machine knows of an account in a journal. */
export function placesOf(stateFolder: string, { journalId, account }: { journalId: string; account: string }) {
  const root = join(stateFolder, 'team', journalId.replace(/[^\w]/g, ''));
  return { root, head: join(root, `${account}.head`), machine: join(root, '.machine'), spool: join(root, account) };
}

/** The op is finished or in other hands: whatever else is written for it is refused too. */
export function segmentRefused(thrown: unknown): boolean {
  return codeOf(thrown) === 'CW008';
}

const TAKES_NOTHING: ReadonlySet<string> = new Set(['CW005', 'CW006', 'CW010', 'CW011']);

/** The account is frozen, or lacks what was written last. */
export function takesNothing(thrown: unknown): boolean {
  return TAKES_NOTHING.has(codeOf(thrown) ?? '');
}

/** Code of the database's refusal, behind the error that was made of it. */
export function codeOf(thrown: unknown): string | undefined {
  const cause = thrown instanceof CliError ? thrown.facts.cause : thrown;
  return cause instanceof PostgresRefusal ? cause.code : undefined;
}
