/** The shared journal of a run, as `doctor` sees it: whether it answers, and what of this machine it does not know. */
import type { Finding } from '../cli/finding.ts';
import { CliError } from '../core/errors.ts';
import { isMovedBack, type MovedBack, stillNamed } from '../journal/store/moved-back.ts';
import { placesIn } from '../journal/store/paths.ts';
import { unmovedOf } from '../journal/store/unmoved.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { JournalStatus } from '../team/calls.ts';
import type { JournalConnection } from '../team/connect.ts';
import { damagedOps } from '../team/damaged-records.ts';
import { accountLeft, leftOf } from '../team/left-account.ts';
import { listedKey } from '../team/listed-key.ts';
import { waitingCopies } from '../team/local-copies.ts';
import { endOfLock, lockerText } from '../team/locked-account.ts';
import type { SharedJournalSettings } from '../team/open-shared.ts';
import { endOfFreeze, inOneLine, refuseOtherAccount } from '../team/refusals.ts';
import { statementsOver } from '../team/statements.ts';
import { type Around, sharedSettings } from './journal.ts';
import { statusCompared } from './own-copies.ts';
import { keyOfRun } from './shared-journal.ts';
import { stepsToLocal } from './still-named.ts';

/** What the database says, and what of this machine it does not know. */
const SHARED = 'shared journal';
const HERE = 'journal';
/** A look at everything does not wait for one part of it: to connect, and for an answer. */
const SOON = { patienceMs: 2_000, answerMs: 2_000 };

/** None where operations are kept on this machine. Nothing is changed, there or here. */
export async function sharedJournalFindings(around: Around): Promise<readonly Finding[]> {
  try {
    const { mode, baseUrl: origin } = await around.opened.identity();
    const settings = mode === 'sandbox' ? undefined : await sharedSettings({ ...around, waiting: SOON });
    if (settings === undefined || mode === 'sandbox') return [];
    around.opened.onClose(async () => settings.connection[Symbol.asyncDispose]());
    const { finding, journal } = await databaseFinding(settings, around);
    const here = { origin, mode, journal, account: settings.account };
    return [finding, ...(await machineFindings(around, here))];
  } catch (thrown) {
    return [failed(thrown)];
  }
}

/** With the identifier of the journal, where it answers. */
async function databaseFinding(
  { connection, account }: SharedJournalSettings,
  { host, opened }: Around,
): Promise<{ readonly finding: Finding; readonly journal?: string }> {
  try {
    const compared = await statusCompared(host, connection, account);
    const finding = findingOf(compared, connection.shown, account);
    const { status } = compared;
    const { journal_id: journal } = status;
    if (finding.status !== 'ok') return { finding, journal };
    const wrong = (await refusedKey(connection, status, opened)) ?? (await damagedFinding(connection, account));
    return { finding: wrong ?? finding, journal };
  } catch (thrown) {
    return { finding: failed(thrown) };
  }
}

function findingOf(
  { status, behind, locked }: Awaited<ReturnType<typeof statusCompared>>,
  shown: string,
  account: string,
): Finding {
  const says = `${shown}, account ${account}, as ${status.role}`;
  if (status.standby) {
    return { check: SHARED, status: 'fail', says: `${says}: this server only reads; use the address of the primary` };
  }
  if (status.moved) {
    const why = 'the database was restored, copied or failed over, and no admin has accepted it';
    return { check: SHARED, status: 'fail', says: `${says}: ${why}`, hint: 'cardwright journal push' };
  }
  if (behind?.isLost === true) {
    const why = `it has lost what was written last, and no admin has accepted it: ${behind.why}`;
    return { check: SHARED, status: 'fail', says: `${says}: ${why}`, hint: 'cardwright journal push' };
  }
  const left = leftOf(status);
  if (left !== undefined) {
    return { check: SHARED, status: 'fail', says: `${says}: ${inOneLine(accountLeft(left))}` };
  }
  if (locked !== undefined) {
    const why = `another session of its database locks the account, and every change is refused: ${lockerText(locked)}`;
    return {
      check: SHARED,
      status: 'fail',
      says: `${says}: ${why}. ${endOfLock(locked)}`,
      hint: 'cardwright journal status',
    };
  }
  if (status.frozen === null) return { check: SHARED, status: 'ok', says };
  const { frozen, frozen_by: by, frozen_at: at } = status;
  const who = by === null ? 'it is frozen' : `${by} has frozen it at ${at}`;
  return { check: SHARED, status: 'fail', says: `${says}: ${who}: ${frozen}. ${endOfFreeze(account)}` };
}

/** A look would go well, and each change would be refused. */
async function refusedKey(
  connection: JournalConnection,
  status: JournalStatus,
  opened: Around['opened'],
): Promise<Finding | undefined> {
  try {
    refuseOtherAccount(status, await opened.identity(), connection.shown);
    const key = await listedKey(connection, status, keyOfRun(opened));
    return key === undefined || key.listed ? undefined : failed(key.refusal);
  } catch (thrown) {
    return failed(thrown);
  }
}

/** What is in the way of everybody who may do the same. Undefined where nothing was found. */
async function damagedFinding(connection: JournalConnection, account: string): Promise<Finding | undefined> {
  const [first, ...more] = await damagedOps(statementsOver(connection), account);
  if (first === undefined) return undefined;
  const also = more.length === 0 ? '' : `, and ${more.length} more`;
  const says = `${connection.shown}, account ${account}: the journal of ${first} is damaged${also}: what was sent is not known`;
  return { check: SHARED, status: 'fail', says, hint: `cardwright ops show ${first}` };
}

/** What lies in the state folder and is not in the database. */
async function machineFindings(
  around: Around,
  here: Omit<MovedBack, 'journal'> & { readonly journal?: string | undefined },
): Promise<readonly Finding[]> {
  const { platform, random, clock, pid, folders } = around.host;
  const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock, random } });
  const findings: Finding[] = [];
  const [first, ...more] = await waitingCopies(disk, folders.state);
  if (first !== undefined) {
    const also = more.length === 0 ? '' : `, and ${more.length} more`;
    const says = `what came of ${first.op} waits on this machine${also}`;
    findings.push({ check: HERE, status: 'warn', says, hint: 'cardwright journal push' });
  }
  const local = { disk, places: placesIn(folders.state) };
  const { journal, ...service } = here;
  if (journal !== undefined && (await isMovedBack(local, { ...service, journal }))) {
    const { says, hint } = stillNamed({ ...service, journal }, await stepsToLocal(around));
    return [...findings, { check: HERE, status: 'fail', says: `the operations of ${here.origin} ${says}`, hint }];
  }
  const unmoved = await unmovedOf(local, service, clock.now());
  if (unmoved !== undefined) {
    const says = `the folder of this machine has operations that the shared journal does not know: ${unmoved}`;
    findings.push({ check: HERE, status: 'fail', says, hint: 'cardwright journal move --to shared' });
  }
  return findings;
}

function failed(thrown: unknown): Finding {
  if (!(thrown instanceof CliError)) throw thrown;
  const { message, reason } = thrown.facts;
  // Of a database that is away the notes say what goes on without it: that is no matter of one row.
  const says = reason === 'journal_unreachable' ? message : inOneLine(thrown);
  // What failed elsewhere may tell to run this very command.
  const hint = thrown.facts.hint === 'cardwright doctor' ? undefined : thrown.facts.hint;
  return { check: SHARED, status: 'fail', says, ...(hint !== undefined && { hint }) };
}
