/** What a page of help says, once; help, reference and manual lay it out. */
import type { AnyField, Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Effect, Operation } from '../../contract/operation.ts';
import { REFUSALS } from '../../contract/refusals.ts';
import { limitText } from '../../contract/violation.ts';
import { ERROR_KINDS, type ErrorKind } from '../../core/errors.ts';
import type { Command, Reach } from '../parsing/command.ts';
import type { Answers } from '../parsing/flag.ts';
import { effectOf, flagsOf, type ResolvedFlag, rowOf } from '../parsing/globals.ts';
import { answersOf } from './answers.ts';

const MET: Readonly<Record<Reach, readonly ErrorKind[]>> = {
  // Standard output that takes no answer is `check_failed`.
  words: ['internal', 'check_failed', 'interrupted', 'terminated'],
  // Profiles, journal and store: not private, locked, damaged; a profile that is not there.
  files: ['not_found', 'guarded'],
  // A service may refuse in words the contract does not list, and answer with what no operation returns.
  service: ['not_authenticated', 'not_found', 'refused', 'rate_limited', 'unreachable', 'contract_mismatch'],
};

const REACHED: Readonly<Record<Reach, readonly ErrorKind[]>> = {
  words: MET.words,
  files: [...MET.words, ...MET.files],
  service: [...MET.words, ...MET.files, ...MET.service],
};

/**
 * Every kind of failure of a command, in the order of exit codes. `own`: it says something of this command, and is not what
 * every command of its reach can meet.
 */
export function endingsOf(command: Command) {
  const row = command.operation === undefined ? undefined : (rowOf(command.operation) as Operation);
  const refusals = row?.fails ?? [];
  const own = new Set<ErrorKind>([
    'usage',
    ...(Object.keys(command.ends) as ErrorKind[]),
    ...refusals.map(name => REFUSALS[name].kind as ErrorKind),
    ...ofEffect(command),
  ]);
  const all = new Set([...own, ...REACHED[reachOf(command)]]);
  return [...all]
    .sort((a, b) => ERROR_KINDS[a].exit - ERROR_KINDS[b].exit)
    .map(kind => {
      const { exit, means }: { readonly exit: number; readonly means: string } = ERROR_KINDS[kind];
      const named = refusals.filter(name => REFUSALS[name].kind === kind);
      const said = command.ends[kind] ?? means;
      return {
        kind,
        exit,
        own: own.has(kind),
        means: named.length === 0 ? said : `${said} (${named.join(', ')})`,
      };
    });
}

function reachOf(command: Command): Reach {
  return (
    command.reach ?? (command.operation !== undefined ? 'service' : effectOf(command) === 'read' ? 'words' : 'files')
  );
}

/** What the write path and a run of many rows add. */
function ofEffect(command: Command): readonly ErrorKind[] {
  const effect = effectOf(command);
  const writes = command.operation !== undefined && effect !== 'read';
  return [
    ...(effect === 'irreversible' || effect === 'reveals-secret' || writes ? (['not_confirmed'] as const) : []),
    ...(writes ? (['outcome_unknown', 'guarded'] as const) : []),
    // What the journal keeps can be held by a rule.
    ...(effect === 'moves-money' || (writes && (effect === 'irreversible' || command.runFlags !== undefined))
      ? (['pending_approval'] as const)
      : []),
    // A request in the caller's own words may be every operation.
    ...(command.operation !== undefined && 'raw' in rowOf(command.operation) ? (['insufficient_funds'] as const) : []),
    ...(command.runFlags === undefined ? [] : (['partly_failed'] as const)),
  ];
}

const EFFECTS: Readonly<Record<Effect, string>> = {
  read: 'reads only',
  reversible: 'changes state; can be undone',
  'moves-money': 'moves money',
  irreversible: 'cannot be undone; asks first',
  'reveals-secret': 'reveals card data; asks first',
};

/** Words with what they mean. */
export type TermRows = readonly { readonly term: string; readonly means: string }[];

/** In the fixed order of a page. All of it plain text, unwrapped. */
export type Page = Readonly<ReturnType<typeof pageOf>>;

export function pageOf(command: Command) {
  const row = command.operation === undefined ? undefined : (rowOf(command.operation) as Operation);
  const flags = flagsOf(command);
  const said = answersOf(command);
  const branches = said === undefined ? [] : 'either' in said ? said.either : [said];
  return {
    path: command.path,
    summary: command.summary,
    /** Command lines, `cardwright cards get <card>`. */
    usage: usageLines(command, flags),
    about: command.about,
    /** Words of the line that are no options, with what they may be. */
    args: Object.entries(command.args).map(argRow),
    options: flags.map(optionRow),
    terms: command.terms,
    effect: `${command.effectSays ?? EFFECTS[effectOf(command)]}.${row ? ` ${command.operation}: ${row.method} ${row.path}.` : ''}`,
    /** The shapes of the answer, a line each. */
    json: branches.map(answerText),
    /** Its answer has a schema worth asking for. */
    typed: branches.some(each => 'one' in each || 'list' in each),
    /** What says something of this command, then every other way it can end, in one line. */
    exits: exitRows(command),
    otherExits: otherExits(endingsOf(command)),
    examples: command.examples,
  };
}

function usageLines(command: Command, flags: readonly ResolvedFlag[]): readonly string[] {
  const args = Object.entries(command.args).map(([name, { field, many, optional }]) => {
    const word = many ? `${name}...${optional ? '' : '|-'}` : `${name}${field.names === 'card' ? '|-' : ''}`;
    return optional ? `[${word}]` : `<${word}>`;
  });
  const needed = flags.filter(flag => flag.needed).map(flag => `${flag.name} ${flag.placeholder}`.trim());
  const more = flags.some(flag => !flag.needed) ? ['[options]'] : [];
  const program = command.rest ? ['-- <command...>'] : [];
  const single = ['cardwright', command.path, ...args, ...needed, ...more, ...program].join(' ');
  if (command.runFlags === undefined) return [single];
  const { selection } = command.runFlags;
  const aim = selection.includes('to') ? ' --to <usd>' : '';
  const chosen = selection.length > 0 ? [`cardwright ${command.path} --where <field><op><value>${aim} [options]`] : [];
  return [single, ...chosen, `cardwright ${command.path} --file <csv|ndjson|-> [options]`];
}

function argRow([name, { field, many }]: [string, Command['args'][string]]) {
  const limit = limitOf(field);
  return { term: `<${many ? `${name}...` : name}>`, means: limit === '' ? field.doc : `${field.doc} (${limit})` };
}

function limitOf(field: AnyField): string {
  const { metadataKeyLength: key, metadataValueLength: value } = LIMITS;
  if (field.kind === 'choice') return (field.choices ?? []).join(', ');
  const limit = limitText(field.kind === 'list' ? (field.item ?? field) : field);
  return field.maxKeys === undefined ? limit : `${limit}, of ${key.max} characters; values of ${value.max}`;
}

function optionRow({ name, short, placeholder, field, needed, repeats }: ResolvedFlag) {
  const limit = limitOf(field);
  const facts = [
    limit && `${limit}`,
    field.defaults !== undefined && `default ${field.defaults}`,
    repeats && 'repeatable',
    needed && 'required',
  ].filter(Boolean);
  const means = facts.length > 0 ? `${field.doc} (${facts.join('; ')})` : field.doc;
  return { term: `${short === undefined ? '' : `${short}, `}${name} ${placeholder}`.trim(), means };
}

function answerText(answers: Answers): string {
  if ('one' in answers) return `{${names(answers.one)}}`;
  if ('list' in answers) return `{data: [{${names(answers.list)}}], page}`;
  if ('text' in answers) return `Text: ${answers.text}`;
  if ('any' in answers) return answers.any;
  return 'none' in answers ? `None: ${answers.none}` : '';
}

/** Fields in their order; what may be left out carries a question mark. */
function names(shape: Shape): string {
  return Object.entries(shape)
    .map(([name, field]) => (field.must ? name : `${name}?`))
    .join(', ');
}

function exitRows(command: Command): readonly Readonly<Record<'exit' | 'kind' | 'means', string>>[] {
  const own = endingsOf(command).filter(ending => ending.own);
  const program = { exit: 'n', kind: 'program', means: 'Whatever the program after -- ended with.' };
  return [
    { exit: '0', kind: 'done', means: 'Done; also an empty list.' },
    ...own.map(({ exit, kind, means }) => ({ exit: `${exit}`, kind, means })),
    ...(command.rest === 'run for its exit code' ? [program] : []),
  ];
}

function otherExits(endings: ReturnType<typeof endingsOf>): string {
  const others = endings.filter(({ own }) => !own).map(({ exit, kind }) => `${exit} ${kind}`);
  return `Also, as anywhere: ${others.join(', ')}. See cardwright help exit-codes.`;
}
