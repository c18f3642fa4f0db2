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

/** Milliseconds UTC in base 36, so that names are in the order of time, and the nonce. */
const NAME = /^(?:[0-9a-z]{8,9}-)?([0-9a-f]{32})\.json$/;
/** So many go with one command: who has frozen thousands of cards must not wait for all of their lines. */
const MOST_AT_ONCE = 200;

function folderOf({ stateFolder, account }: NoteFolder): string {
  return join(stateFolder, 'team', 'notes', account);
}

/** Durable when it resolves. `nonce`: 32 hexadecimal digits, new for each; `at`: ms UTC. */
export async function leaveNote(
  disk: JournalDisk,
  place: NoteFolder,
  { nonce, at, facts }: KeptNote & { readonly nonce: string; readonly at: number },
): Promise<void> {
  await disk.prepareFolder(folderOf(place));
  await disk.note(join(folderOf(place), `${at.toString(36)}-${nonce}.json`), JSON.stringify(facts));
}

/**
 * Writes into the chain what was left for this service, oldest first, each once and `most` of them, and resolves to how many were written and
 * how many wait; a damaged one is put aside, and its path is told. Throws as a call of the database does; what was not brought stays.
 */
export async function bringNotes(
  shared: Pick<SharedOps, 'disk' | 'statements' | 'account' | 'head' | 'host'>,
  stateFolder: string,
  service: Service,
  most = MOST_AT_ONCE,
): Promise<{ readonly brought: number; readonly waiting: number; readonly damaged: readonly string[] }> {
  const { disk, statements, account, head, host } = shared;
  const folder = folderOf({ stateFolder, account });
  let [brought, waiting] = [0, 0];
  const damaged: string[] = [];
  for (const name of [...(await disk.names(folder))].sort()) {
    const [, nonce] = NAME.exec(name) ?? [];
    const text = nonce === undefined ? undefined : await disk.read(join(folder, name));
    if (nonce === undefined || text === undefined) continue;
    const facts = factsIn(text);
    if (facts === undefined) {
      const aside = join(folder, `${name}.damaged`);
      await disk.rename(join(folder, name), aside);
      damaged.push(aside);
      continue;
    }
    if (facts.origin !== service.origin || facts.mode !== service.mode) continue;
    if (brought === most) {
      waiting += 1;
      continue;
    }
    head.learn((await statements().note({ account, known: head.known(), host, nonce }, facts)).head);
    await disk.remove(join(folder, name));
    brought += 1;
  }
  return { brought, waiting, damaged };
}

/** Undefined for what is no note. */
function factsIn(text: string): KeptNote['facts'] | undefined {
  try {
    const facts: unknown = JSON.parse(text);
    return typeof facts === 'object' && facts !== null ? (facts as KeptNote['facts']) : undefined;
  } catch {
    return undefined;
  }
}
