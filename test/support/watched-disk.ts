/** A disk that knows which journals are open: a process that dies lets go of them, and one that fails must. */
import type { JournalDisk, JournalFile } from '../../src/journal/wal/storage.ts';

export interface WatchedDisk {
  readonly disk: JournalDisk;
  /** Paths of the files that are open. */
  open(): readonly string[];
  /** Closes them, as the system does for a process that has ended. */
  closeAll(): Promise<void>;
}

export function watchedDisk(real: JournalDisk): WatchedDisk {
  const files = new Map<JournalFile, string>();
  const watched = (file: JournalFile, path: string): JournalFile => {
    files.set(file, path);
    return {
      ...file,
      async close() {
        files.delete(file);
        await file.close();
      },
    };
  };
  return {
    disk: {
      ...real,
      create: async path => watched(await real.create(path), path),
      async open(path) {
        const file = await real.open(path);
        return file === undefined ? undefined : watched(file, path);
      },
    },
    open: () => [...files.values()],
    async closeAll() {
      for (const file of files.keys()) await file.close();
      files.clear();
    },
  };
}
