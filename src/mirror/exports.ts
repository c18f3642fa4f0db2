/** Exports that were made of an account, kept to tell later what has come since. */
import type { ExportRow } from '../books/rows.ts';
import type { MirrorDatabase } from './database.ts';

/** Keeps it where it is not the same as the newest one of its period, format and account; resolves to that one. */
export function keepExport(db: MirrorDatabase, row: ExportRow): ExportRow | undefined {
  const { period, format, account, lines, sha256, at_ms } = row;
  return db.commit(() => {
    const before = db.get<ExportRow>(
      `select period, format, account, lines, sha256, at_ms from export
        where period = ? and format = ? and account = ? order by rowid desc limit 1`,
      ...[period, format, account],
    );
    if (before?.sha256 !== sha256) {
      db.run(
        'insert into export (period, format, account, lines, sha256, at_ms) values (?, ?, ?, ?, ?, ?)',
        ...[period, format, account, lines, sha256, at_ms],
      );
    }
    return before;
  });
}
