/** Names in `--fields`, `--columns` and `--sort` of a command that changes something: settled before it does. */
import { checkNames } from '../terminal/rows.ts';
import { fieldNames } from './docs/answers.ts';
import type { Command } from './parsing/command.ts';
import type { Globals } from './parsing/globals.ts';
import { effectOf } from './parsing/resolved-flags.ts';

/**
 * Throws `usage` for a name the answer will not have; nothing was sent. `fromFile` is a run of rows. Reading commands are left alone: their rows
 * may have fields of the service that we do not know, and reading them again costs nothing.
 */
export function checkNamedFields(command: Command, globals: Globals, fromFile: boolean): void {
  if (effectOf(command) === 'read') return;
  const names = fieldNames(command, { dryRun: globals.dryRun, fromFile });
  if (names === undefined) return;
  const { fields, columns, sort } = globals;
  const asked = { ...(fields && { fields }), ...(columns && { columns }), ...(sort !== undefined && { sort }) };
  checkNames(asked, [Object.fromEntries([...names].map(name => [name, null]))], []);
}
