import type { Command } from '../cli/command.ts';
import { command } from '../cli/command.ts';
import { exitKinds } from '../cli/exit-kinds.ts';
import { wholeListing } from '../cli/listing.ts';
import { flagsOf, rowOf } from '../cli/resolved-flags.ts';
import type { AnyField } from '../contract/field.ts';
import type { Operation } from '../contract/operation.ts';
import { ERROR_KINDS } from '../errors.ts';
import { REGISTRY } from './registry.ts';

/** The command tree as data, for scripts, agents and generated documents. */
export const listCommands = command({
  path: 'commands',
  summary: 'List every command: as data with its options, choices, effect and exit codes',
  examples: [
    { does: 'What there is', run: 'commands' },
    { does: 'The whole tree, for a program', run: 'commands --json' },
  ],
  async run() {
    const groups = await Promise.all(REGISTRY.map(group => group.load()));
    return groups
      .flat()
      .filter(({ hidden }) => !hidden)
      .map(describe);
  },
  show: rows => ({
    listing: wholeListing({ data: rows, page: { total: rows.length } }, { noun: 'command' }),
    noun: 'command',
    idField: 'path',
    columns: [
      { field: 'path', title: 'COMMAND', kind: 'id', priority: 1 },
      { field: 'summary', title: 'DOES', kind: 'text', priority: 1, shrink: true },
      { field: 'operation', title: 'OPERATION', kind: 'word', priority: 2, wideOnly: true },
      { field: 'effect', title: 'EFFECT', kind: 'word', priority: 3, wideOnly: true },
    ],
  }),
});

function describe(of: Command) {
  const row = of.operation === undefined ? undefined : (rowOf(of.operation) as Operation);
  return {
    path: of.path,
    summary: of.summary,
    operation: of.operation ?? null,
    effect: row?.effect ?? null,
    args: Object.entries(of.args).map(([name, { field, many, optional }]) => ({
      name,
      needed: optional !== true,
      many,
      choices: choicesOf(field),
      doc: field.doc,
    })),
    flags: flagsOf(of).map(({ name, placeholder, needed, repeats, field }) => ({
      name,
      placeholder,
      needed,
      repeats,
      choices: choicesOf(field),
      doc: field.doc,
    })),
    exit_codes: [
      { exit: 0, kind: 'done' },
      ...exitKinds(row).map(kind => ({ exit: ERROR_KINDS[kind].exit as number, kind: kind as string })),
    ],
  };
}

function choicesOf(field: AnyField): readonly string[] | null {
  return field.choices ?? field.item?.choices ?? null;
}
