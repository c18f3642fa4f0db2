/** Fault rules from a file or standard input: one object or a list of them, checked before any is added. */
import type { Context } from '../../../cli/context.ts';
import { type FaultRule, faultProblem } from '../../../contract/sandbox/fault-rule.ts';
import { CliError } from '../../../core/errors.ts';
import { notJson } from '../../../core/json-position.ts';
import { nearest } from '../../../core/nearest.ts';

const MOST_BYTES = 1_048_576;

/** Throws `usage` naming the file, the rule, the member that is wrong and the nearest word there is. */
export async function readRules(ctx: Pick<Context, 'stdin' | 'readFile'>, file: string): Promise<readonly FaultRule[]> {
  const name = file === '-' ? 'standard input' : file;
  const wrong = (what: string) =>
    new CliError('usage', {
      message: `${name}: ${what}`,
      hint: 'cardwright sandbox faults add --help',
      outcome: 'not_sent',
    });
  const text = file === '-' ? await ctx.stdin.readAll(MOST_BYTES) : await ctx.readFile(file);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw wrong(notJson(text));
  }
  const rules = Array.isArray(parsed) ? parsed : [parsed];
  if (rules.length === 0) throw wrong('no rule in it');
  for (const [index, rule] of rules.entries()) {
    const problem = faultProblem(rule);
    const which = rules.length === 1 ? '' : `rule ${index + 1}: `;
    if (problem === undefined) continue;
    const near = problem.word && nearest(problem.word.given, problem.word.known);
    const meant = near === undefined ? '' : `. Did you mean ${JSON.stringify(near)}?`;
    throw wrong(`${which}${problem.field} ${problem.text}${meant}`);
  }
  return rules as readonly FaultRule[];
}
