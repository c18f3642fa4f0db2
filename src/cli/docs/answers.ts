/** What comes of a command: what it prints as JSON with its schema and the names of fields, and how it can end. */

import type { Globals } from '../../app/globals.ts';
import { type JsonSchema, listSchema, shapeSchema } from '../../contract/json-schema.ts';
import { REFUSALS } from '../../contract/refusals.ts';
import { ERROR_KINDS, type ErrorKind } from '../../core/errors.ts';
import { checkNames } from '../../terminal/rows.ts';
import { rowSource } from '../bulk/flags.ts';
import type { Command, Reach } from '../parsing/declaration.ts';
import { type Answers, maybe, RUN_ANSWER, shapesOf, tells } from '../parsing/flag.ts';

/** What `--dry-run` prints in place of the answer. */
export const PLANNED = {
  dry_run: tells.yes('Always true.'),
  operation: tells.text('Operation of the contract.'),
  method: tells.text('HTTP method.'),
  path: tells.text('Path below the base address.'),
  card_id: maybe(tells.text('The card it is about.')),
  body: maybe(tells.json('Body of the request.')),
  idempotency_key: maybe(tells.text('Key it would carry.')),
} as const;

/** The forms of what a command answers; from its operation where it does not say. */
export function answersOf(command: Command): readonly Answers[] {
  return [...singleAnswers(command), ...(command.runFlags === undefined ? [] : [RUN_ANSWER])];
}

/** Of one operation, not of a run of rows. With --offline it tells of which instant it is. */
function singleAnswers({ flags, answers, row }: Command): readonly Answers[] {
  const [isNamed, isOffline] = ['intent', 'offline'].map(name => flags.some(({ key }) => key === name));
  const { kind = 'none', shape = {} } = row?.returns ?? {};
  const ofRow: readonly Answers[] = kind === 'none' ? [] : [kind === 'one' ? { one: shape } : { list: shape }];
  return (answers ?? ofRow).map((said): Answers => {
    if ('one' in said) return { one: { ...said.one, ...(isNamed && INTENT), ...(isOffline && AS_OF) } };
    if (!('list' in said) || !isOffline) return said;
    return { ...said, page: { ...said.page, ...AS_OF, offline: maybe(tells.yes('Nothing was sent.')) } };
  });
}

const INTENT = {
  intent: maybe(
    tells.object(
      {
        name: tells.text('The name that was given.'),
        op: tells.text('Operation in the journal that has it.'),
        repeated: tells.yes('An earlier command with this name had begun it.'),
      },
      'With --intent: what came of the name.',
    ),
  ),
} as const;

const AS_OF = { as_of: maybe(tells.time('The copy is of this instant of the service.')) };

/**
 * Fields on the top of what a command prints; undefined for what has no fields of its own. Throws `usage` for a name that
 * the answer of a change will not have; nothing was sent.
 */
export function promisedFields(command: Command, globals: Globals, typed: Readonly<Record<string, unknown>>) {
  const fromFile = command.runFlags !== undefined && rowSource(typed) !== undefined;
  const shapes = shapesOf(fromFile ? [RUN_ANSWER] : singleAnswers(command));
  if (shapes.length === 0) return undefined;
  const promised = new Set([...shapes, ...(globals.dryRun ? [PLANNED] : [])].flatMap(shape => Object.keys(shape)));
  // What is read may have fields of the service that we do not know, and reading it again costs nothing.
  if (command.effect !== 'read') checkNames({ ...globals, promised }, [], []);
  return promised;
}

/** JSON Schema of what a command prints with `--json`. */
export function commandSchema(command: Command): JsonSchema {
  const answers = answersOf(command);
  const all = answers.map(schemaOf);
  const schemas = answers.every(each => 'none' in each) ? all : [...all, ...plannedSchemas(command)];
  const about = { title: `cardwright ${command.path}`, description: `${command.summary}.` };
  const [only] = schemas;
  return schemas.length === 1 ? { ...about, ...only, ...about } : { ...about, anyOf: schemas };
}

/** Of the requests that were not sent: one as an object, and as a list those of a command that runs rows. */
function plannedSchemas(command: Command): readonly JsonSchema[] {
  const runsRows = command.runFlags !== undefined || command.answers?.includes(RUN_ANSWER) === true;
  if (!runsRows && (command.operation === undefined || command.effect === 'read')) return [];
  const description = 'With --dry-run.';
  const one = { description, ...shapeSchema(PLANNED, 'promise') };
  return runsRows ? [one, { description: 'With --dry-run, of several rows.', ...listSchema(PLANNED) }] : [one];
}

function schemaOf(answers: Answers): JsonSchema {
  if ('one' in answers) return shapeSchema(answers.one, 'promise');
  if ('list' in answers) return listSchema(answers.list, answers.page);
  if ('text' in answers) return { type: 'string', description: answers.text };
  if ('any' in answers) return { description: answers.any };
  return { not: {}, description: answers.none };
}

const ERROR = {
  kind: tells.word('Kind of failure.', Object.keys(ERROR_KINDS)),
  message: tells.text('What failed, in words.'),
  hint: maybe(tells.text('The next command to run.')),
  notes: maybe(tells.texts('What else is known, and other ways on: a line each.')),
  exit_code: tells.count('Exit code of the program.'),
  retryable: tells.yes('Whether the same command may be run again without looking first.'),
  outcome: maybe(tells.word('What is known of the effect.', ['not_sent', 'refused', 'unknown', 'done'])),
  operation: maybe(tells.text('Operation of the contract.')),
  http_status: maybe(tells.count('HTTP status of the answer.')),
  service: maybe(tells.json("The service's own error: error, message, code, request_id.")),
  idempotency_key: maybe(tells.text('Key the request carried.')),
  op: maybe(tells.text('Operation in the journal of this machine.')),
  retry_after_ms: maybe(tells.count('How long the service asked to wait, milliseconds.')),
  evidence: maybe(tells.json('What was looked at.')),
  faults: maybe(
    tells.rows(
      {
        file: tells.text('What it was called.'),
        line: tells.count('Line, from 1.'),
        column: tells.count('Column, from 1.'),
        text: tells.text('What is wrong.'),
      },
      'Every fault of a file.',
    ),
  ),
} as const;

/** The last line of standard error with `--json` or `ndjson`. */
export function errorSchema(): JsonSchema {
  return {
    title: 'cardwright error',
    description: 'The last line of standard error when a command fails with --json or ndjson.',
    type: 'object',
    properties: { error: shapeSchema(ERROR, 'promise') },
    required: ['error'],
  };
}

// Standard output that takes no answer is `check_failed`.
const OF_WORDS: readonly ErrorKind[] = ['internal', 'check_failed', 'interrupted', 'terminated'];
// Profiles, journal and store: not private, locked, damaged; a profile that is not there.
const OF_FILES: readonly ErrorKind[] = [...OF_WORDS, 'not_found', 'guarded'];
const REACHED: Readonly<Record<Reach, readonly ErrorKind[]>> = {
  words: OF_WORDS,
  files: OF_FILES,
  // A service may refuse in words the contract does not list, and answer with what no operation returns.
  service: [...OF_FILES, 'not_authenticated', 'refused', 'rate_limited', 'unreachable', 'contract_mismatch'],
};

/**
 * Every kind of failure of a command, in the order of exit codes. `own`: it says something of this command, and is not what
 * every command of its reach can meet.
 */
export function endingsOf(command: Command) {
  const refusals = command.row?.fails ?? [];
  const own = new Set<ErrorKind>([
    'usage',
    ...(Object.keys(command.ends) as ErrorKind[]),
    ...refusals.map(name => REFUSALS[name].kind as ErrorKind),
    ...ofEffect(command),
  ]);
  const all = new Set([...own, ...REACHED[command.reach]]);
  return [...all]
    .sort((a, b) => ERROR_KINDS[a].exit - ERROR_KINDS[b].exit)
    .map(kind => {
      const { exit, means }: { readonly exit: number; readonly means: string } = ERROR_KINDS[kind];
      const named = refusals.filter(name => REFUSALS[name].kind === kind);
      const said = command.ends[kind] ?? means;
      return { kind, exit, own: own.has(kind), means: named.length === 0 ? said : `${said} (${named.join(', ')})` };
    });
}

/** What the write path and a run of many rows add. */
function ofEffect(command: Command): readonly ErrorKind[] {
  const { effect } = command;
  const writes = command.operation !== undefined && effect !== 'read';
  return [
    ...(effect === 'irreversible' || effect === 'reveals-secret' || writes ? (['not_confirmed'] as const) : []),
    ...(writes ? (['outcome_unknown', 'guarded'] as const) : []),
    // What the journal keeps can be held by a rule.
    ...(effect === 'moves-money' || (writes && (effect === 'irreversible' || command.runFlags !== undefined))
      ? (['pending_approval'] as const)
      : []),
    // A request in the caller's own words may be every operation.
    ...(command.row?.raw ? (['insufficient_funds'] as const) : []),
    ...(command.runFlags === undefined ? [] : (['partly_failed'] as const)),
  ];
}
