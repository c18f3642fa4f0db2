/** Secrets that stand in a file by mistake. A fault names the place and never the text. */
import { withoutCardNumbers } from '../core/card-numbers.ts';
import type { YamlFault } from '../terminal/yaml-tree.ts';

const KEYS = /(?<![A-Za-z0-9])(?:sk_(?:live|test)_|whsec_)[A-Za-z0-9]*/g;
/** An id of the service: its digits are no number. */
const IDS = /(?<![A-Za-z0-9_])[a-z]{2,12}_[0-9a-z]+(?![A-Za-z0-9_])/g;
const DIGIT = /[0-9]/;

/** Everything in the text, comments too, that looks like an API key, a webhook secret or a card number. */
export function secretsIn(text: string): readonly YamlFault[] {
  const faults: YamlFault[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const at = (column: number, what: string) => faults.push({ line: index + 1, column: column + 1, text: what });
    for (const found of line.matchAll(KEYS)) {
      at(found.index, 'this looks like an API key or a webhook secret; it must not be in a file');
    }
    const bare = line.replace(KEYS, blank).replace(IDS, blank);
    const masked = withoutCardNumbers(bare);
    if (masked !== bare) at(firstMasked(bare, masked), 'this looks like a card number; it must not be in a file');
  }
  return faults;
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}

/** Where the masked text begins to be another one. */
function firstMasked(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  while (at < before.length && !DIGIT.test(before[at] ?? '')) at += 1;
  return at;
}
