/**
 * What a machine has done without asking the database of a shared journal: a line each for the chain of its account, kept
 * here until a command connects. Stopping a card waits for nothing.
 */
import { join } from 'node:path';
import type { PlanRecord } from '../journal/wal/records.ts';
import type { JournalDisk } from '../journal/wal/storage.ts';
import type { Facts } from './calls.ts';
import type { SharedOps } from './shared-ops.ts';

type Service = Pick<PlanRecord, 'origin' | 'mode'>;

/** Where notes lie, below the state folder: of one account, whatever the address of its database. */
export interface NoteFolder {
  readonly stateFolder: string;
  readonly account: string;
}

interface KeptNote {
  readonly facts: Facts & Service;
}

const NAME = /^([0-9a-f]{32})\.json$/;

function folderOf({ stateFolder, account }: NoteFolder): string {
  return join(stateFolder, 'team', 'notes', account);
}

/** Durable when it resolves. `nonce`: 32 hexadecimal digits, new for each. */
export async function leaveNote(
  disk: JournalDisk,
  place: NoteFolder,
  { nonce, facts }: KeptNote & { readonly nonce: string },
): Promise<void> {
  await disk.prepareFolder(folderOf(place));
  await disk.note(join(folderOf(place), `${nonce}.json`), JSON.stringify(facts));
}

/**
 * Writes into the chain what was left for this service, each once, and resolves to how many. Throws as a call of the database
 * does; what was not brought stays.
 */
export async function bringNotes(
  shared: Pick<SharedOps, 'disk' | 'statements' | 'account' | 'head' | 'host'>,
  stateFolder: string,
  service: Service,
): Promise<number> {
  const { disk, statements, account, head, host } = shared;
  const folder = folderOf({ stateFolder, account });
  let brought = 0;
  for (const name of await disk.names(folder)) {
    const [, nonce] = NAME.exec(name) ?? [];
    const text = nonce === undefined ? undefined : await disk.read(join(folder, name));
    if (nonce === undefined || text === undefined) continue;
    const facts = JSON.parse(text) as KeptNote['facts'];
    if (facts.origin !== service.origin || facts.mode !== service.mode) continue;
    head.learn((await statements().note({ account, known: head.known(), host, nonce }, facts)).head);
    await disk.remove(join(folder, name));
    brought += 1;
  }
  return brought;
}
