/** The dialect of a sandbox that is started: of the flag, else of the environment. */
import { OURS } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice } from '../../contract/field.ts';
import { DIALECT_NAMES, type DialectName } from '../../contract/sandbox/faults.ts';
import { violation } from '../../contract/violation.ts';

const VARIABLE = 'CARDWRIGHT_SANDBOX_DIALECT';

/** Undefined where neither names one. Throws `usage` for a word of the environment that is no dialect. */
export function spokenDialect(
  env: Readonly<Record<string, string | undefined>>,
  flag: DialectName | undefined,
): DialectName | undefined {
  const named = flag ?? env[VARIABLE];
  if (!named) return undefined;
  const wrong = violation(choice(DIALECT_NAMES, { doc: VARIABLE, basis: OURS }), named);
  if (wrong !== undefined) throw usage(`${VARIABLE} ${JSON.stringify(named)} ${wrong}`);
  return named as DialectName;
}
