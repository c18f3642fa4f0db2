/** Histories of a store that carries out one transaction at a time, and faults that it does not have. */
import fc from 'fast-check';
import type { History, Step, Transaction } from './history.ts';

interface Planned {
  readonly steps: readonly { readonly key: string; readonly isAppend: boolean }[];
  readonly outcome: Transaction['outcome'];
  /** Of those with an unknown outcome. */
  readonly happens: boolean;
  /** How long before and after its moment its caller waits, in transactions. */
  readonly early: number;
  readonly late: number;
}

const KEYS = ['x', 'y', 'z'] as const;

const planned: fc.Arbitrary<Planned> = fc.record({
  steps: fc.array(fc.record({ key: fc.constantFrom(...KEYS), isAppend: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  outcome: fc.constantFrom('committed', 'committed', 'committed', 'committed', 'undone', 'unknown'),
  happens: fc.boolean(),
  early: fc.nat({ max: 5 }),
  late: fc.nat({ max: 5 }),
});

/** Histories whose last transaction reads every list. */
export const serialHistories: fc.Arbitrary<History> = fc
  .array(planned, { minLength: 12, maxLength: 40, size: 'max' })
  .map(carriedOut);

/** Carries them out in their order; the callers overlap all the same. */
function carriedOut(plan: readonly Planned[]): History {
  const lists = new Map<string, readonly number[]>(KEYS.map(key => [key, []]));
  let value = 0;
  const history = plan.map(({ steps, outcome, happens, early, late }, place): Transaction => {
    const before = new Map(lists);
    const done = steps.map(({ key, isAppend }): Step => {
      const list = lists.get(key) ?? [];
      if (!isAppend) return { read: key, list };
      value += 1;
      lists.set(key, [...list, value]);
      return { append: key, value };
    });
    if (outcome === 'undone' || (outcome === 'unknown' && !happens))
      for (const [key, list] of before) lists.set(key, list);
    return { steps: done, outcome, began: 10 * place - 10 * early - 1, ended: 10 * place + 10 * late + 1 };
  });
  const all = [...lists].map(([read, list]) => ({ read, list }));
  const began = 10 * plan.length + 100;
  return [...history, { steps: all, outcome: 'committed', began, ended: began + 1 }];
}

/** A place in a history that a fault fits, and the step that takes its place. */
interface Fitting {
  readonly place: number;
  readonly at: number;
  readonly becomes: Step;
}

type Fault = (history: History) => readonly Fitting[];

/** A read that is replaced by what `change` makes of its list; undefined where it does not fit. */
function reads(
  change: (list: readonly number[], fit: { history: History; place: number; key: string }) => number[] | undefined,
): Fault {
  return history =>
    history.flatMap(({ steps, outcome }, place) =>
      steps.flatMap((step, at) => {
        if (!('read' in step) || outcome !== 'committed') return [];
        const list = change(step.list, { history, place, key: step.read });
        return list === undefined ? [] : [{ place, at, becomes: { ...step, list } }];
      }),
    );
}

const appendsOf = ({ steps }: Transaction, key: string) =>
  steps.flatMap(step => ('append' in step && step.append === key ? [step.value] : []));

export const FAULTS = {
  'a value that is not there any more': reads((list, { history, place, key }) => {
    const last = list.at(-1);
    const writer = history.find(each => last !== undefined && appendsOf(each, key).includes(last));
    // Its writer had its answer before this one asked.
    const isOlder = writer?.outcome === 'committed' && writer.ended < (history[place]?.began ?? 0);
    return isOlder ? list.slice(0, -1) : undefined;
  }),
  'a value of what was undone': reads((list, { history, place, key }) => {
    const undone = history.flatMap((each, other) =>
      other !== place && each.outcome === 'undone' ? appendsOf(each, key) : [],
    );
    return undone[0] === undefined ? undefined : [...list, undone[0]];
  }),
  'two values the other way round': reads((list, { history, place, key }) => {
    const [last, before] = [list.at(-1), list.at(-2)];
    const isOther = appendsOf(history[place] as Transaction, key).length === 0;
    // The whole list is read at the end, in its order.
    return isOther && place < history.length - 1 && last !== undefined && before !== undefined
      ? [...list.slice(0, -2), last, before]
      : undefined;
  }),
  'a value from later': reads((list, { history, place, key }) => {
    const whole = history.at(-1)?.steps.find(step => 'read' in step && step.read === key);
    const next = whole !== undefined && 'read' in whole ? whole.list[list.length] : undefined;
    const writer = history.find(each => next !== undefined && appendsOf(each, key).includes(next));
    return writer !== undefined && writer.began > (history[place]?.ended ?? 0) ? [...list, next as number] : undefined;
  }),
  'a value twice': reads(list => (list[0] === undefined ? undefined : [...list, list[0]])),
  'a hole': reads((list, { place, history }) =>
    list.length > 2 && place < history.length - 1 ? [list[0] as number, ...list.slice(2)] : undefined,
  ),
} satisfies Readonly<Record<string, Fault>>;

/** The same history with one fault of a kind in it, where `chance` puts it; undefined when it fits nowhere. */
export function planted(history: History, kind: keyof typeof FAULTS, chance: number): History | undefined {
  const places = FAULTS[kind](history);
  const fit = places[chance % Math.max(1, places.length)];
  if (fit === undefined) return undefined;
  return history.map((transaction, place) =>
    place === fit.place ? { ...transaction, steps: transaction.steps.with(fit.at, fit.becomes) } : transaction,
  );
}
