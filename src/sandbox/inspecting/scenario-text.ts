/** Writes a scenario from what was done: one step each, ids that a step made as references to its answer. */
import { STEP_OPERATIONS } from '../../contract/sandbox/step-operations.ts';

/** What was done, as it was asked and with what came of it. */
export interface DoneStep {
  readonly operation: string;
  /** In wire form. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Members of the answer that are text: ids and outcomes. */
  readonly answer: Readonly<Record<string, string>>;
}

/** JSON is YAML, so that text of any kind stands in it as it is. */
export function scenarioText(
  title: string,
  done: readonly DoneStep[],
): { readonly text: string; readonly steps: number } {
  const steps = done.filter(({ operation }) => STEP_OPERATIONS.has(operation));
  const made = new Map<string, { readonly step: number; readonly fields: string[] }>();
  const used = new Set<number>();
  const lines = steps.map(({ operation, input, answer }, step) => {
    const fields = written(input, (value, name) => {
      const found = made.get(value);
      if (found === undefined) return value.startsWith('$') ? `$${value}` : value;
      used.add(found.step);
      return `$step${found.step + 1}.${found.fields.includes(name) ? name : found.fields[0]}`;
    });
    for (const [field, id] of Object.entries(answer).filter(([name]) => /(?:^|_)id$/.test(name))) {
      const known = made.get(id) ?? { step, fields: [] };
      if (known.step === step) known.fields.push(field);
      made.set(id, known);
    }
    return { operation, fields, expect: expected(answer) };
  });
  const rows = lines.flatMap(({ operation, fields, expect }, step) => [
    `  - ${operation}: ${JSON.stringify(fields)}`,
    ...(used.has(step) ? [`    as: step${step + 1}`] : []),
    ...(expect === undefined ? [] : [`    expect: ${JSON.stringify(expect)}`]),
  ]);
  return { text: [`scenario: ${JSON.stringify(title)}`, 'steps:', ...rows, ''].join('\n'), steps: steps.length };
}

/** The same with other texts; `text` is told the name of the field too. */
function written(value: unknown, text: (value: string, name: string) => string, name = ''): unknown {
  if (typeof value === 'string') return text(value, name);
  if (Array.isArray(value)) return value.map(entry => written(entry, text, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, entry]) => [member, written(entry, text, member)]));
}

/** What it came to is what it should come to again. */
function expected({ outcome, decline_reason: reason }: DoneStep['answer']): object | undefined {
  if (outcome === undefined) return undefined;
  return reason === undefined ? { outcome } : { outcome, decline_reason: reason };
}
