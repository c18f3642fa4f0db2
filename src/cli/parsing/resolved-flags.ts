/** Flags of a declared command with their fields looked up, for parsing, help, completion and the command tree. */
import type { AnyField } from '../../contract/field.ts';
import type { Effect } from '../../contract/operation.ts';
import { CALLS } from '../../contract/raw.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import type { Command } from './command.ts';
import { flagName, type OwnFlag, placeholder, type RowName } from './flag.ts';

/** A flag with everything resolved: its field and whether it must be given. */
export interface ResolvedFlag {
  readonly key: string;
  /** `--allow-category`. */
  readonly name: string;
  /** `-f`. */
  readonly short: string | undefined;
  readonly field: AnyField;
  readonly needed: boolean;
  /** `<usd>`; empty for a switch. */
  readonly placeholder: string;
  /** May be given several times. */
  readonly repeats: boolean;
  /** Its values are a list of texts as typed, whatever the kind of the field. */
  readonly eachTime: boolean;
  /** Completion never inserts it. */
  readonly typedOnly: boolean;
}

interface RawRow {
  readonly params?: Readonly<Record<string, AnyField>>;
  readonly query?: Readonly<Record<string, AnyField>>;
  readonly body?: Readonly<Record<string, AnyField>>;
}

/** The row of an operation, of the service or of the sandbox. */
export function rowOf(name: RowName) {
  return isCall(name) ? CALLS[name] : ADMIN_OPERATIONS[name];
}

function isCall(name: RowName): name is keyof typeof CALLS {
  return Object.hasOwn(CALLS, name);
}

/** What running a command may do: of its operation, or its own for one that has none. */
export function effectOf({ effect, operation }: Command): Effect {
  return effect ?? (operation === undefined ? 'read' : rowOf(operation).effect);
}

/** Flags of a command with their fields; references are looked up in the operation's row. */
export function flagsOf(command: Command): readonly ResolvedFlag[] {
  return Object.entries(command.flags).map(([key, source]) => {
    const own: OwnFlag = typeof source === 'string' ? { field: fieldAt(command, source), needed: false } : source;
    const needed = typeof source === 'string' ? own.field.must : own.needed;
    const eachTime = own.eachTime === true;
    const repeats = eachTime || own.field.kind === 'list' || own.field.kind === 'map';
    return {
      key,
      name: flagName(key),
      short: own.short === undefined ? undefined : `-${own.short}`,
      field: own.field,
      needed,
      repeats,
      eachTime,
      typedOnly: own.typedOnly === true,
      placeholder: placeholder(own.field, own.placeholder),
    };
  });
}

function fieldAt(command: Command, reference: string): AnyField {
  const [part = '', field = ''] = reference.split('.');
  const row = command.operation === undefined ? undefined : (rowOf(command.operation) as RawRow);
  const found = row?.[part as keyof RawRow]?.[field];
  if (found === undefined) throw new CliError('internal', { message: `${command.path}: no field ${reference}` });
  return found;
}
