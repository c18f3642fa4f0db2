/** The journal of a state folder, read past the program. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo } from '../../src/engine/open.ts';

/** Ids of its operations, oldest first; none where there is no journal. */
export function opsIn(stateFolder: string): readonly string[] {
  const path = join(stateFolder, 'journal.db');
  if (!existsSync(path)) return [];
  const connection = connectTo(path);
  try {
    const rows = connection.prepare('select id from op order by created, id').all() as { id: string }[];
    return rows.map(({ id }) => id);
  } finally {
    connection.close();
  }
}
