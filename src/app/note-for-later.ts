/** `cards freeze --without-journal`: a line for the audit log of a shared journal that is not asked now. */
import { CliError } from '../core/errors.ts';
import { isoSeconds } from '../core/iso-time.ts';
import { createDisk } from '../journal/wal/storage.ts';
import { leaveNote } from '../team/kept-notes.ts';
import { type Around, sharedSettings } from './journal.ts';

/** A line of the chain is short. */
const MOST_IDS = 20;

/** Throws `usage` where ops are kept on this machine: its own audit log has every line already. */
export async function noteForLater(around: Around, operation: string, cards: readonly string[]): Promise<void> {
  const { host, opened } = around;
  const { profile, mode, baseUrl } = await opened.identity();
  const settings = mode === 'sandbox' ? undefined : await sharedSettings(around);
  if (settings === undefined || mode === 'sandbox') throw notShared();
  const { platform, noise, clock, pid, folders } = host;
  const disk = createDisk({ platform, random: noise, warn: () => undefined, lock: { pid, clock, random: noise } });
  const nonce = Buffer.from(noise.bytes(16)).toString('hex');
  const asked = { profile, mode, origin: baseUrl, operation, rows: cards.length, cards: cards.slice(0, MOST_IDS) };
  const facts = { event: 'without_journal', ...asked, asked_at: isoSeconds(clock.now()) };
  await leaveNote(disk, { stateFolder: folders.state, account: settings.account }, { nonce, facts });
}

function notShared(): CliError {
  return new CliError('usage', {
    message: '--without-journal is for a shared journal, and the operations of this run are kept on this machine',
    hint: 'cardwright journal status --help',
    outcome: 'not_sent',
  });
}
