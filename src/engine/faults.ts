/** What an error of the engine means for the transaction it hit. */

const BUSY = 5;
const BUSY_SNAPSHOT = 517;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;

/** The package's `all()` throws without a number (1.2.1); these are the engine's own words, the same everywhere. */
const WORDS: ReadonlyMap<string, number> = new Map([
  ['database is locked', BUSY],
  ['disk I/O error', IO_ERROR],
  ['database disk image is malformed', CORRUPT],
  ['database or disk is full', FULL],
  ['file is not a database', NOT_A_DATABASE],
]);

/** The engine's own number of an error, undefined for anything else that was thrown. */
export function engineCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error || 'errcode' in error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? (WORDS.get(error.message) ?? 1) : undefined;
}

function primary(error: unknown): number {
  return (engineCode(error) ?? 0) & 255;
}

/** Another process holds the lock: worth another try. 517 means a statement of ours is still open: it is not. */
export function isBusy(error: unknown): boolean {
  return primary(error) === BUSY && engineCode(error) !== BUSY_SNAPSHOT;
}

/** The disk is full or failing: the whole transaction is lost, its neighbours too. */
export function losesAll(error: unknown): boolean {
  return primary(error) === FULL || primary(error) === IO_ERROR;
}

/** A statement that a constraint of a table refuses: a bug, or a row that is there already. */
export function violates(error: unknown): boolean {
  return primary(error) === CONSTRAINT || /constraint failed/.test(error instanceof Error ? error.message : '');
}

/** A COMMIT that failed like this wrote nothing for sure. */
export function leftNothing(error: unknown): boolean {
  return primary(error) === FULL || primary(error) === CONSTRAINT;
}

export function isFull(error: unknown): boolean {
  return primary(error) === FULL;
}

/** The file is no database, or a broken one. */
export function isDamage(error: unknown): boolean {
  return primary(error) === NOT_A_DATABASE || primary(error) === CORRUPT;
}
