/** A policy file: rules over facts of cards, read whole, every fault with its place. */

import { CARD_STATUSES } from '../contract/card.ts';
import type { Cents } from '../core/money.ts';
import {
  choiceOf,
  listOf,
  mapAs,
  members,
  notKnown,
  readYamlFile,
  TEXT,
  usd,
  VERSION,
  v,
} from '../terminal/yaml-file.ts';
import { choiceNamed, FACT_NAMES, FILTER_NAMES, factNamed, formOf, SEVERITIES, testOf } from './facts.ts';
import type { CardRow } from './rows.ts';

const MOST_RULES = 200;

/** Facts and tests; all must hold. */
const WHEN = v.pipe(
  mapAs('must be a map of facts and tests', (map, fault) =>
    Object.entries(map).flatMap(([name, written]) => {
      const fact = factNamed(name);
      const holds = fact && testOf(fact.kind, written);
      if (fact === undefined) fault(name, notKnown(name, FACT_NAMES), true);
      else if (holds === undefined) fault(name, formOf(fact.kind, written));
      else return [{ fact: name, kind: fact.kind, written: [written].flat().join(' or '), holds, of: fact.of }];
      return [];
    }),
  ),
  v.minLength(1, 'must be a map of facts and tests'),
);

type Chooses = (card: CardRow) => boolean;
const isActive: Chooses = card => card.status === 'active';

/** Active cards unless the status is named. */
const CARDS = mapAs(`must be a map of ${FILTER_NAMES.join(', ')}`, (map, fault): Chooses => {
  const tests = Object.entries(map).flatMap(([name, written]): readonly Chooses[] => {
    const of = choiceNamed(name);
    const holds = testOf('text', written);
    if (of === undefined) fault(name, notKnown(name, FILTER_NAMES), true);
    else if (holds === undefined) fault(name, formOf('text', written));
    else return [card => holds(of(card)) === true];
    return [];
  });
  // A status that no card can have would choose none, silently.
  for (const status of [map['status'] ?? []].flat())
    if (!CARD_STATUSES.some(known => known === status))
      fault('status', `${JSON.stringify(status)} ${notKnown(String(status), CARD_STATUSES)}`);
  if (map['status'] === undefined) tests.push(isActive);
  return card => tests.every(test => test(card));
});

/** The only changes a policy may ask for: it never funds, unfreezes or terminates. */
const THEN: v.GenericSchema<unknown, 'freeze' | { readonly withdraw: { readonly keep: Cents } }> = v.union(
  [v.literal('freeze'), members({ withdraw: members({ keep: usd('What stays on the card.') }) })],
  'must be freeze or {withdraw: {keep: 20.00}}',
);

const RULE = v.pipe(
  members({
    name: v.pipe(TEXT, v.regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -')),
    cards: v.optional(CARDS),
    when: WHEN,
    severity: v.optional(choiceOf(SEVERITIES), 'warning'),
    then: v.optional(THEN),
  }),
  v.transform(({ cards, ...rule }) => ({ ...rule, chooses: cards ?? isActive })),
);

const POLICY = members({
  version: VERSION,
  rules: v.pipe(
    listOf(RULE),
    v.minLength(1, 'must be a list of rules'),
    v.maxLength(MOST_RULES, `has more than ${MOST_RULES} rules`),
    v.rawCheck(({ dataset, addIssue }) => {
      const input = (Array.isArray(dataset.value) ? dataset.value : []) as readonly { readonly name?: unknown }[];
      for (const [key, value] of input.entries()) {
        const first = input.findIndex(({ name }) => name === value.name);
        if (typeof value.name !== 'string' || first === key) continue;
        const path = { type: 'array', origin: 'value', key } as const;
        const name = { type: 'object', origin: 'value', input: {}, key: 'name', value: value.name } as const;
        addIssue({
          message: `rules[${first}] is called ${value.name} already`,
          path: [{ ...path, input: [...input], value }, name],
        });
      }
    }),
  ),
});

export type Policy = Pick<v.InferOutput<typeof POLICY>, 'rules'>;
export type Rule = Policy['rules'][number];

/** `file` is what the user called it. Throws `usage` with every fault of the file. */
export function readPolicy(text: string, file: string): Policy {
  return readYamlFile(text, POLICY, { file, hint: 'cardwright policy check --help' }).value;
}
