/** Lines for the audit log of a shared journal that is not asked now: the next command that connects brings them. */

import type { AuditFacts } from '../audit/entry.ts';
import { CliError } from '../core/errors.ts';
import { isoSeconds } from '../core/iso-time.ts';
import { createDisk } from '../journal/wal/storage.ts';
import { leaveNote } from '../team/kept-notes.ts';
import { type Around, isShared, sharedSettings } from './journal.ts';

/** A line of the chain is short. */
const MOST_IDS = 20;

/** Throws `usage` where ops are kept on this machine: its own audit log has every line already. */
export async function noteForLater(around: Around, operation: string, cards: readonly string[]): Promise<void> {
  const { host, opened } = around;
  const { profile, mode, baseUrl } = await opened.identity();
  const settings = mode === 'sandbox' ? undefined : await sharedSettings(around);
  if (settings === undefined || mode === 'sandbox') throw notShared();
  const asked = { profile, mode, origin: baseUrl, operation, rows: cards.length, cards: cards.slice(0, MOST_IDS) };
  await leave(host, settings.account, { event: 'without_journal', ...asked, asked_at: isoSeconds(host.clock.now()) });
}

/**
 * A freeze, a change of webhooks, a reveal: what is in the audit log of this machine, for that of the account too, also with
 * `--journal local`. Durable when it resolves. Nothing where no shared journal is named, and a warning where it cannot be kept.
 */
export async function keepSharedLine(
  { globals, ...parts }: Around,
  line: Omit<AuditFacts, 'mode' | 'origin' | 'of'>,
  warn: (text: string) => void,
): Promise<void> {
  const { host, opened } = parts;
  // The account is a shared one, wherever the op of this run is kept.
  const around = { ...parts, globals: { ...globals, ...(globals.journal === 'local' && { journal: undefined }) } };
  try {
    const { mode, baseUrl: origin } = await opened.identity();
    const settings = mode === 'sandbox' || !(await isShared(around)) ? undefined : await sharedSettings(around);
    if (settings === undefined || mode === 'sandbox') return;
    const { idempotency_key: _, happened, ...told } = line;
    const when = { asked_at: isoSeconds(happened === undefined ? host.clock.now() : Date.parse(happened.at)) };
    await leave(host, settings.account, { ...told, mode, origin, ...when });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    warn(`${line.operation} is not in the audit log of the shared journal: ${why}`);
  }
}

async function leave(
  { platform, noise, clock, pid, folders }: Around['host'],
  account: string,
  facts: Parameters<typeof leaveNote>[2]['facts'],
): Promise<void> {
  const disk = createDisk({ platform, random: noise, warn: () => undefined, lock: { pid, clock, random: noise } });
  const nonce = Buffer.from(noise.bytes(16)).toString('hex');
  await leaveNote(disk, { stateFolder: folders.state, account }, { nonce, at: clock.now(), facts });
}

function notShared(): CliError {
  return new CliError('usage', {
    message: '--without-journal is for a shared journal, and the operations of this run are kept on this machine',
    hint: 'cardwright journal status --help',
    outcome: 'not_sent',
  });
}
