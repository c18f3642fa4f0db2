/** The shared journal as one command or one call of a program uses it: opened once, and what was left here is brought there first. */
import { CliError } from '../core/errors.ts';
import { printIfMade } from '../journal/store/key-print.ts';
import type { LocalOps } from '../journal/store/local-ops.ts';
import type { AccountPrint } from '../journal/store/moved.ts';
import { hasLeft } from '../journal/store/moved-back.ts';
import type { OpStore } from '../journal/store/op-store.ts';
import { placesIn } from '../journal/store/paths.ts';
import { noteShared } from '../journal/store/shared-note.ts';
import { refuseMovedBack, refuseUnmoved } from '../journal/store/unmoved.ts';
import type { PlanRecord } from '../journal/wal/records.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { planIn } from './claims.ts';
import type { JournalConnection } from './connect.ts';
import { bringNotes } from './kept-notes.ts';
import { accountLeft, leftOf } from './left-account.ts';
import { leftCopies } from './local-copies.ts';
import { behindBy, behindWarning, reportLoss } from './loss.ts';
import { withUsedJournal } from './lost-journal.ts';
import { restoredWarning } from './lost-records.ts';
import { type ActsAs, endOfFreeze, refuseOtherAccount, refuseOtherSchema } from './refusals.ts';
import { answersOf, chainHead, headsByJournal, machineId, placesOf, type SharedOps } from './shared-ops.ts';
import { MOST_CLOCK_MS, sharedStore } from './shared-store.ts';
import { type Pushed, pushSpool } from './spool.ts';
import { statementsOver } from './statements.ts';

export interface SharedJournalSettings {
  readonly connection: JournalConnection;
  readonly account: string;
  /** What it acts as must be the account's; undefined for whoever only answers requests, and needs no API key. */
  readonly actsAs?: (() => Promise<ActsAs>) | undefined;
  /** Longest life of one write, ms. */
  readonly writeTotalMs: number;
  readonly notice: (text: string) => void;
  readonly machine: JournalMachine;
  /** Commands behind which nothing names this journal for the run; left out where nobody can say. */
  readonly stepsToLocal?: (() => Promise<readonly string[]>) | undefined;
}

/** What of this machine a shared journal needs. */
export interface JournalMachine {
  /** For people who look at a lease. */
  readonly name: string;
  /** Where copies of ops lie, and how far the chain was. */
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly random: Randomness;
  /** For names of locks and for pauses. */
  readonly noise: Randomness;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
}

/** Prints of the API key of this run. */
export interface PrintsOfKey {
  readonly accountPrint: AccountPrint;
  /** As the files of this machine have it, under their random value. */
  readonly keyPrint: (salt: string) => Promise<string>;
}

/** Nothing is connected to before the store is asked for something. */
export function openedStore(settings: SharedJournalSettings, { accountPrint, keyPrint }: PrintsOfKey): OpStore {
  const { stateFolder, clock, pid } = settings.machine;
  let [opening, pushed]: Promise<SharedOps>[] = [];
  const open = (names?: readonly string[]) => {
    opening ??= openShared(settings, names);
    return opening;
  };
  const bring = async (names?: readonly string[]) => {
    const ops = await open(names);
    if (ops.behind === undefined) await pushedBy(ops);
    else {
      if (ops.behind.isLost) await reportLoss(ops);
      settings.notice(behindWarning(ops.behind));
    }
    return ops;
  };
  const store = sharedStore({
    shared(names) {
      pushed ??= bring(names);
      return pushed;
    },
    opened: open,
    notes: async () => allNotes(settings, await open()),
    keyPrint: () => accountPrint(settings.account),
    account: settings.account,
    places: placesIn(stateFolder),
    async hasLeft() {
      const { disk, journalId: journal, account } = await open();
      return hasLeft({ disk, places: placesIn(stateFolder) }, { journal, account });
    },
  });
  const localOf = ({ disk }: SharedOps) => ({ disk, places: placesIn(stateFolder) });
  const refuseBack = async (plan: PlanRecord) => {
    const ops = await open();
    const here = { journal: ops.journalId, account: ops.account };
    await refuseMovedBack(localOf(ops), plan, { here, stepsToLocal: settings.stepsToLocal });
  };
  return {
    ...store,
    async refuseMoved(plan) {
      await refuseBack(plan);
      refuseLeft(await open());
    },
    async take(op, how) {
      const plan = await planOfLeft(await open(), placesIn(stateFolder), op);
      if (plan !== undefined) await refuseBack(plan);
      refuseLeft(await open());
      return store.take(op, how);
    },
    async claim(claim) {
      const ops = await open();
      const { journalId: journal, account } = ops;
      const local = localOf(ops);
      const unmovedBy = {
        now: clock.now(),
        keyPrint: await printIfMade({ ...local, keyPrint }, claim.record.mode),
        here: { journal, account },
        stepsToLocal: settings.stepsToLocal,
      };
      await refuseUnmoved(local, claim, unmovedBy);
      refuseLeft(ops);
      const { shown: address } = settings.connection;
      const takeBack = await noteShared(local, claim, { journal, account, address, accountPrint, unmovedBy, pid });
      ops.keyUnknown = takeBack;
      return store.claim(claim).catch((thrown: unknown) => {
        throw inFreeze(ops, thrown);
      });
    },
  };
}

/** Before anything names a step that is refused as well. The database has the last word. */
function refuseLeft({ left }: Pick<SharedOps, 'left'>): void {
  if (left !== undefined) throw accountLeft(left);
}

/** Of an op that is in the way, the command that goes on with it is refused as well until the freeze ends. */
function inFreeze({ isFrozen, account }: Pick<SharedOps, 'isFrozen' | 'account'>, thrown: unknown): unknown {
  if (isFrozen !== true || !(thrown instanceof CliError) || thrown.facts.op === undefined) return thrown;
  return thrown.with({
    notes: [
      ...(thrown.facts.notes ?? []),
      `The account is frozen, and what is unknown is settled when that has ended. ${endOfFreeze(account)}`,
    ],
  });
}

/** Undefined where this machine has left nothing for its own files. */
async function planOfLeft(shared: SharedOps, places: LocalOps['places'], op: string): Promise<PlanRecord | undefined> {
  const { disk, journalId: journal, account, statements } = shared;
  if (!(await hasLeft({ disk, places }, { journal, account }))) return undefined;
  const [head] = await statements().heads(account, { op, plan: true });
  return planIn(head?.plan ?? undefined);
}

/** What stays behind is no outcome: a look, or why a row is unknown. */
function recordsLeftOut(records: number, op: string): string {
  return records === 1
    ? `1 record of ${op}, which is no outcome, was not brought`
    : `${records} records of ${op}, none of them an outcome, were not brought`;
}

function clashWarning({ op, with: other, name }: Pushed['clashes'][number]): string {
  return `warning: ${op} was done after all, and its name ${JSON.stringify(name)} belongs to ${other} by now: one purchase may have been made twice. Look at both: cardwright ops show ${op}`;
}

/** Before anything else: what is known here may decide what the rules say. Ops that the database does not know. */
export async function pushedBy(shared: SharedOps): Promise<readonly string[]> {
  const { notice } = shared;
  if ((await leftCopies(shared)).length === 0) return [];
  shared.recent = undefined;
  const pushed = await pushSpool(shared);
  for (const { op, rows } of pushed.brought) {
    notice(`note: the outcome of ${rows === 1 ? '1 row' : `${rows} rows`} of ${op} was brought to the shared journal`);
  }
  for (const { op, records, holder, host } of pushed.leftOut) {
    notice(`note: ${recordsLeftOut(records, op)}: ${holder} on ${host} has it; ops list --local has the copy`);
  }
  for (const clash of pushed.clashes) notice(clashWarning(clash));
  for (const { op, rows } of pushed.restored) notice(restoredWarning(op, rows));
  for (const op of pushed.missing)
    notice(`warning: ${op} is not in the shared journal, and was begun there: cardwright journal push`);
  return pushed.missing;
}

/** Throws `guarded` where the journal is not that of the account this run acts for. The names are asked for in the same call. */
export async function openShared(settings: SharedJournalSettings, names: readonly string[] = []): Promise<SharedOps> {
  const { machine, connection, account, actsAs, writeTotalMs, notice } = settings;
  const { platform, random, noise, clock, pid, stateFolder } = machine;
  const statements = statementsOver(connection);
  const warn = (text: string) => notice(`warning: ${text}`);
  const disk = createDisk({ platform, random, warn, lock: { pid, clock, random }, noise });
  const known = await headsByJournal(disk, stateFolder, account);
  const at = clock.monotonic();
  const { shown } = connection;
  const opens = statements.opening(account, names, known).catch(async (thrown: unknown) => {
    throw await withUsedJournal(thrown, { disk, stateFolder, account, shown });
  });
  const [opening, acting] = await Promise.all([opens, actsAs?.()]);
  const { status } = opening;
  refuseOtherSchema(status, connection.shown);
  if (acting !== undefined) refuseOtherAccount(status, acting, connection.shown);
  if (Math.abs(status.clock_ms - clock.now()) > MOST_CLOCK_MS) {
    notice('warning: the clock of this machine is more than a minute off that of the shared journal');
  }
  const places = placesOf(stateFolder, { journalId: status.journal_id, account });
  let prepared: Promise<void> | undefined;
  const spoolFolder = async () => {
    prepared ??= disk.prepareFolder(places.spool);
    await prepared;
    return places.spool;
  };
  await disk.prepareFolder(places.root);
  // Not what lies there now: another command of this machine may have gone on since, and nobody has asked about that.
  const head = chainHead(disk, places.head, known[status.journal_id]);
  head.look(status.head.seq);
  const parts = { disk, statements: () => statements, account, head, host: machine.name };
  const behind = behindBy(opening, head.known());
  head.accept(status.accepted);
  const notesBrought = acting === undefined ? 0 : await broughtNotes(settings, parts, acting);
  return {
    statements: () => statements,
    account,
    journalId: status.journal_id,
    role: status.role,
    mayHold: Object.keys(status.rules).length > 0,
    host: machine.name,
    machine: machineId({ disk, random: noise }, places.machine),
    clock,
    random: noise,
    disk,
    notice,
    writeTotalMs,
    head,
    behind,
    isFrozen: status.frozen !== null,
    left: leftOf(status, machine.name),
    recent: answersOf(opening, { names, at }),
    notesBrought,
    spoolFolder,
  };
}

/** Other commands bring some of them each; how many were brought since the opening. */
async function allNotes(settings: SharedJournalSettings, ops: SharedOps): Promise<number> {
  const acting = await settings.actsAs?.();
  const rest = acting === undefined ? 0 : await broughtNotes(settings, ops, acting, Number.POSITIVE_INFINITY);
  return (ops.notesBrought ?? 0) + rest;
}

/** How many were brought. An account that takes nothing now says so to whatever this run is for; notes wait. */
async function broughtNotes(
  { machine, notice }: SharedJournalSettings,
  parts: Parameters<typeof bringNotes>[0],
  { baseUrl: origin, mode }: ActsAs,
  most?: number,
): Promise<number> {
  if (mode === 'sandbox') return 0;
  const nothing = { brought: 0, waiting: 0, damaged: [] };
  const { brought, waiting, damaged } = await bringNotes(parts, machine.stateFolder, { origin, mode }, most).catch(
    () => nothing,
  );
  for (const path of damaged)
    notice(`warning: a line for the audit log of the shared journal is damaged and was put aside: ${path}`);
  if (brought === 0) return 0;
  const rest = waiting === 0 ? '' : `; ${waiting} more wait for the next command`;
  const lines = brought === 1 ? '1 line' : `${brought} lines`;
  notice(
    `note: the audit log of the shared journal now has ${lines} about what this machine did without asking it${rest}`,
  );
  return brought;
}
