/** What a command prints as JSON: its schema, that of an error, and the names of fields. */

import type { Globals } from '../../app/globals.ts';
import { type JsonSchema, listSchema, shapeSchema } from '../../contract/json-schema.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { checkNames } from '../../terminal/rows.ts';
import type { Command } from '../parsing/declaration.ts';
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
    return { ...said, page: { ...said.page, ...AS_OF, offline: OFFLINE_PAGE } };
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
const OFFLINE_PAGE = maybe(tells.yes('Nothing was sent.'));

/** Fields on the top of what a command prints; undefined for what has no fields of its own. */
export function fieldNames(
  command: Command,
  { dryRun, fromFile }: { readonly dryRun: boolean; readonly fromFile: boolean },
): ReadonlySet<string> | undefined {
  const shapes = shapesOf(fromFile ? [RUN_ANSWER] : singleAnswers(command));
  if (shapes.length === 0) return undefined;
  return new Set([...shapes, ...(dryRun ? [PLANNED] : [])].flatMap(shape => Object.keys(shape)));
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

/**
 * Throws `usage` for a name the answer will not have; nothing was sent. `fromFile` is a run of rows. Reading commands are left alone: their rows
 * may have fields of the service that we do not know, and reading them again costs nothing.
 */
export function checkNamedFields(command: Command, globals: Globals, fromFile: boolean): void {
  if (command.effect === 'read') return;
  const names = fieldNames(command, { dryRun: globals.dryRun, fromFile });
  if (names === undefined) return;
  checkNames(globals, [Object.fromEntries([...names].map(name => [name, null]))], []);
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
