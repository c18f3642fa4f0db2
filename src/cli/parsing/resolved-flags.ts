/** The flags of a command and the options of every one, with the fields they stand for. */
import { GLOBALS } from '../../app/globals.ts';
import type { AnyField } from '../../contract/field.ts';
import type { Effect } from '../../contract/operation.ts';
import { CliError } from '../../core/errors.ts';
import type { Command } from './declaration.ts';
import { flagName, type OwnFlag, placeholder, takes } from './flag.ts';

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
  /** Words that stand for a value, as `auto` in `<bin|auto>`. */
  readonly literals: readonly string[];
  /** May be given several times. */
  readonly repeats: boolean;
  /** Completion never inserts it. */
  readonly typedOnly: boolean;
  /** Keys of flags that it cannot be given with. */
  readonly conflicts?: readonly string[] | undefined;
}

/** What running a command may do: of its operation, or its own for one that has none. */
export function effectOf({ effect, row }: Command): Effect {
  return effect ?? row?.effect ?? 'read';
}

/** Flags of a command with their fields; references are looked up in the operation's row. */
export function flagsOf(command: Command): readonly ResolvedFlag[] {
  return Object.entries(command.flags).map(([key, source]) => {
    const own: OwnFlag = typeof source === 'string' ? { field: fieldAt(command, source), needed: false } : source;
    const needed = typeof source === 'string' ? own.field.must : own.needed;
    const repeats = own.eachTime === true || own.field.kind === 'list' || own.field.kind === 'map';
    const word = placeholder(own.field, own.placeholder);
    const { choices, names } = own.field.item ?? own.field;
    const isName = names !== undefined && choices === undefined && own.field.choices === undefined;
    return {
      key,
      name: flagName(key),
      short: own.short === undefined ? undefined : `-${own.short}`,
      field: own.field,
      needed,
      repeats,
      typedOnly: own.typedOnly === true,
      conflicts: own.conflicts,
      placeholder: word,
      literals: isName ? word.slice(1, -1).split('|').slice(1) : [],
    };
  });
}

function fieldAt(command: Command, reference: string): AnyField {
  const [part = '', field = ''] = reference.split('.');
  const found = command.row?.[part as 'params' | 'query' | 'body']?.[field];
  if (found === undefined) throw new CliError('internal', { message: `${command.path}: no field ${reference}` });
  return found;
}

/** Options of every command, as the flags of one are. */
export function globalFlags(): readonly ResolvedFlag[] {
  return GLOBALS.map(({ name, short, value, means, choices, names, typedOnly = false }) => ({
    key: name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    name: `--${name}`,
    short: short && `-${short}`,
    field: { ...takes.text(means), ...(choices && { choices }), ...(names && { names }) },
    placeholder: value === undefined ? '' : `<${value}>`,
    literals: [],
    needed: false,
    repeats: false,
    typedOnly,
  }));
}
