/** The JSON error object as JSON Schema (docs/design/cli.md, "Errors"). */
import { answerSchema } from '../../contract/answer-schema.ts';
import type { JsonSchema } from '../../contract/json-schema.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { maybe, tells } from '../answer-fields.ts';

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

/** The last line of standard error with `--json`, `ndjson` or `yaml`. */
export function errorSchema(): JsonSchema {
  return {
    title: 'cardwright error',
    description: 'The last line of standard error when a command fails with --json, ndjson or yaml.',
    type: 'object',
    properties: { error: answerSchema(ERROR) },
    required: ['error'],
  };
}
