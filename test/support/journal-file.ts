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

/** As if the command of an op had been killed after `done` of its rows, and nothing of the others was sent. */
export function killedAfter(stateFolder: string, op: string, done: number): void {
  const connection = connectTo(join(stateFolder, 'journal.db'));
  try {
    connection.exec(`update op set state = 'open', finished = null, acknowledged = null, lease = 0 where id = '${op}'`);
    connection.exec(
      `update change set state = 'planned', sent_at = null, last_sent_at = null, decided_at = null, attempts = 0
        where op = '${op}' and n > ${done}`,
    );
  } finally {
    connection.close();
  }
}

/** As if it had been killed before its answer was written. */
export function neverTold(stateFolder: string, op: string): void {
  const connection = connectTo(join(stateFolder, 'journal.db'));
  try {
    connection.exec(`update op set acknowledged = null where id = '${op}'`);
  } finally {
    connection.close();
  }
}
