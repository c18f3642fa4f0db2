/** `--intent`: the caller's own name for one purchase, also when the command is repeated. */
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { text } from '../../contract/field.ts';
import { intentFault } from '../../core/intent-name.ts';
import type { UsedIntent } from '../../writes/single-write.ts';

export const intent = option(
  text({ doc: 'Your own name for this purchase: one purchase, one intent, also when repeated.', basis: OURS }),
  '<name>',
);

/** The name as it may be used. Throws `usage`. */
export function intentNamed(name: string | undefined): string | undefined {
  const fault = name === undefined ? undefined : intentFault(name);
  if (fault !== undefined) throw usage(`--intent ${fault}`);
  return name;
}

/** For JSON: what came of the name, where one was given. */
export function withIntent<Told extends object>(
  told: Told,
  used: UsedIntent | undefined,
): Told & { readonly intent?: UsedIntent } {
  return used === undefined ? told : { ...told, intent: used };
}

/** For people: that nothing was sent. Empty where it was. */
export function repeatedLines(
  used: UsedIntent | undefined,
): readonly { readonly kind: 'line'; readonly text: string }[] {
  if (used?.repeated !== true) return [];
  return [
    {
      kind: 'line',
      text: `The intent ${JSON.stringify(used.name)} was carried out before, by ${used.op}: nothing was done twice.`,
    },
  ];
}
