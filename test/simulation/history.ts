/**
 * A history: what is meant, what the service does to it, and what persons do one after the other or at once. It is plain data,
 * so that a failing one can be kept and made shorter. `historyOf` invents one from a seed.
 */
import type { Cut } from './postgres.ts';
import { DEFINITE, type Does, type Lie, SAYING_NAMES, type Saying, type Settings } from './service.ts';
import { Chance, type Fate } from './world.ts';

/** Something that somebody wants to happen. Its number is the cents of its amount, by which the books know it. */
export interface Wish {
  readonly change: 'create' | 'fund' | 'withdraw';
  /** Whole USD. */
  readonly dollars: number;
  /** Of `fund` and `withdraw`: 1 or 2. */
  readonly card: number;
  readonly intent: boolean;
  /** Somebody gives it the intent of that other wish. */
  readonly named?: number;
}

export type Act =
  | { readonly do: 'buy'; readonly wishes: readonly number[]; readonly how: 'command' | 'file' | 'library' }
  /** What another step bought once more, as it was or with the file edited. */
  | { readonly do: 'repeat'; readonly of: number; readonly as: Repeated; readonly extra: number }
  /** `--resend-absent` only where the program has named it. */
  | { readonly do: 'resume'; readonly of: number; readonly resend: boolean }
  | { readonly do: 'state'; readonly change: 'freeze' | 'unfreeze' | 'terminate'; readonly card: number }
  /** The home of the machine becomes what another one has now. `moves`: it alone goes on with it, as the program has said. */
  | { readonly do: 'copy'; readonly from: number; readonly moves?: boolean }
  /** The clock of the machine jumps by so many ms. */
  | { readonly do: 'clock'; readonly ms: number }
  /** A person at a terminal decides on the op of another step that is held for approval. */
  | { readonly do: 'decide'; readonly of: number; readonly as: 'approve' | 'reject' }
  /** The sandbox is set back. */
  | { readonly do: 'reset' }
  | { readonly do: 'look' };

/**
 * `with again`: `--again`, only where the program has named it. `other amounts`: another wish in the place of each, under the intent
 * of the first where it has one.
 */
export type Repeated =
  | 'the same'
  | 'one row more'
  | 'first row gone'
  | 'rows turned round'
  | 'with again'
  | 'other amounts';

export interface Step {
  /** What others call it. */
  readonly name: number;
  readonly machine: number;
  readonly act: Act;
  /** ms before it. */
  readonly wait: number;
  /** It begins while the step before it still runs, so many ms after that began. */
  readonly beside: boolean;
  readonly fate?: Fate;
}

export interface History {
  /** Of latencies, ids and the order of what happens at once. */
  readonly noise: number;
  readonly wishes: readonly Wish[];
  readonly service: Settings;
  readonly lies: readonly Lie[];
  /** ms that the clock of each machine is ahead. */
  readonly machines: readonly number[];
  /** The program was let find out whether keys are honoured. */
  readonly probed: boolean;
  /** Whatever leaves the wallet is held until a person has approved it. */
  readonly held: boolean;
  /** Cents a day; 0: none. */
  readonly cap: number;
  /** The machines share a journal in a database. */
  readonly shared?: boolean;
  /** Commits of that database behind which the connection is lost. */
  readonly cuts?: readonly Cut[];
  readonly steps: readonly Step[];
}

const HOUR = 3_600_000;

export function historyOf(seed: number): History {
  const chance = new Chance(seed);
  const calm = chance.is(0.12);
  const shared = chance.is(0.2);
  const held = chance.is(0.1);
  const wishes = Array.from(
    { length: 2 + chance.below(4) },
    (_, n): Wish => ({
      change: chance.of(['create', 'create', 'create', 'fund', 'fund', 'withdraw'] as const),
      dollars: 5 + n,
      card: 1 + chance.below(2),
      intent: chance.is(0.2),
      ...(n > 0 && chance.is(0.1) ? { named: n - 1 } : {}),
    }),
  );
  const machines = machinesOf(chance, shared);
  const service = settingsOf(chance, calm);
  // Without metadata it finds out nothing.
  const probed = chance.is(0.3) && service.metadata === 'everywhere';
  // A request that is queued for longer than a key lives that was proved to be honoured is beyond what anybody can know.
  const lies = calm ? [] : liesOf(chance, probed && service.keysMs === 3_000 ? 1_500 : 20_000);
  // "Later" has to be believed at last; what is shown for 8 s is taken for granted.
  const slower = lies.some(({ says }) => says.startsWith('429')) ? 2 : 1;
  const { list, card, wallet, fresh } = service.behind;
  const behind = { list: list / slower, card: card / slower, wallet: wallet / slower, fresh: fresh / slower };
  const history: History = {
    noise: chance.below(1e9),
    wishes,
    service: { ...service, behind },
    lies,
    machines,
    probed,
    held,
    cap: chance.is(0.1) ? 100 * (6 + chance.below(20)) : 0,
    ...(shared ? { shared, cuts: calm ? [] : cutsOf(chance) } : {}),
    steps: stepsOf(chance, { wishes, machines: machines.length, calm, held, shared }),
  };
  if (!chance.is(0.2)) return history;
  const corners = calm ? (shared ? [resumedBeside] : []) : shared ? [twoAtAnOp] : ALONE;
  return corners.length === 0 ? history : { ...history, ...chance.of(corners)(chance, history) };
}

function machinesOf(chance: Chance, shared: boolean): number[] {
  const count = shared ? chance.below(3) : chance.of([0, 0, 0, 0, 0, 0, 1, 1, 2]);
  const ahead = shared ? [-HOUR, 0, 0, HOUR] : [-90_000, 0, 4_000, HOUR];
  const first = shared || count > 0 ? 0 : chance.of([0, 0, 0, -HOUR, 60_000]);
  return [first, ...Array.from({ length: count }, () => chance.of(ahead))];
}

// Corners: what seldom comes together by chance. Each says what of a history is otherwise.

type Corner = (chance: Chance, history: History) => Partial<History>;

const NOT_LATE = { list: 0, card: 0, wallet: 0, fresh: 0 };
const REFUSALS: readonly Saying[] = ['400 insufficient funds', '400 invalid request', '401', '403', '404', '422'];
const LOST: Lie = { nth: 1, does: 'done', ms: 0, says: 'lost' };

/** Its steps, of which the first one types this and is not disturbed. */
function buying({ steps }: History, wishes: readonly number[], isFile: boolean): [Step, ...Step[]] {
  const [first, ...later] = steps;
  const { name = 1, machine = 0, wait = 0, beside = false } = first ?? {};
  const act: Act = { do: 'buy', wishes, how: isFile ? 'file' : 'command' };
  return [{ name, machine, wait, beside, act }, ...later];
}

const wishing = ({ wishes }: History, changed: Partial<Wish>, most = 1) =>
  wishes.map((wish, n) => (n < most ? { ...wish, ...changed } : wish));

/** A list is behind, for longer than anybody looks or not; keys are honoured, or throttled where they are used again. */
const lateList: Corner = (chance, history) => {
  const isShort = chance.is(0.3);
  const list = isShort ? 1_000 + chance.below(5_000) : 8_500 + chance.below(3_500);
  const says = chance.of(['400 insufficient funds', '400 invalid request', '422 key reused', 'honest'] as const);
  // Beside another row the wallet is no evidence.
  const isFile = chance.is(0.6);
  return {
    probed: true,
    held: false,
    wishes: wishing(history, { change: 'create' }, 2),
    service: {
      ...history.service,
      metadata: 'everywhere',
      keysMs: chance.of([0, 600_000, null]),
      limitsRepeats: chance.is(0.5),
      diesAt: 0,
      behind: { ...NOT_LATE, list },
    },
    lies: [
      isShort ? { ...LOST, says: '400 odd word' } : chance.of([LOST, { ...LOST, does: 'later', ms: 20_000 }]),
      { nth: isFile ? 3 : 2, does: says === 'honest' ? 'done' : 'none', ms: 0, says },
    ],
    steps: buying(history, isFile ? [0, 1] : [0], isFile),
  };
};

/** A refusal is said behind the deed. What tells it is current: the wallet and the total, beside rows that are behind; or readings fail. */
const refusedThoughDone: Corner = (chance, history) => {
  const isFile = chance.is(0.4);
  const failing = { how: chance.of(['lost', '503'] as const), ms: chance.of([500, 5_000, 60_000]) };
  const isFailing = chance.is(0.5);
  return {
    held: false,
    cap: 0,
    wishes: wishing(history, { change: chance.of(['create', 'create', 'fund', 'withdraw'] as const) }),
    service: {
      ...history.service,
      wallet: 1_000_000,
      metadata: 'everywhere',
      totals: true,
      totalsAhead: true,
      behind: { ...NOT_LATE, list: isFailing ? 0 : chance.of([0, 2_000, 6_000]) },
      others: [],
      ...(isFailing ? { failing } : {}),
    },
    lies: [{ ...LOST, says: chance.of(REFUSALS) }],
    steps: buying(history, isFile ? [0, 0] : [0], isFile),
  };
};

/** What came onto a card is spent at once. */
const spentAtOnce: Corner = (chance, history) => {
  const { dollars, card } = history.wishes[0] as Wish;
  const says = chance.of(['lost', '429', '503', '409 in progress'] as const);
  const isFile = chance.is(0.5);
  return {
    held: false,
    wishes: wishing(history, { change: 'fund' }),
    service: {
      ...history.service,
      behind: NOT_LATE,
      others: [{ at: 60 + chance.below(6_000), cents: -100 * dollars, card }],
    },
    // In a file, and beside another purchase, the wallet is no evidence: then 429 is believed where the card has what it had.
    lies: [{ ...LOST, says: says === '429' && (isFile || history.steps.some(step => step.beside)) ? 'lost' : says }],
    steps: buying(history, [0], isFile),
  };
};

/** Two equal purchases: an answer names the card of the other one, or the first transfer is lost. */
const equalCards: Corner = (chance, history) => {
  const change = chance.of(['create', 'create', 'fund', 'withdraw'] as const);
  const isFile = change !== 'create' || chance.is(0.3);
  const [typed, ...later] = buying(history, isFile ? [0, 0] : [0], isFile);
  const again: Step = { ...typed, name: 99, act: { do: 'repeat', of: typed.name, as: 'the same', extra: 0 } };
  const second: Lie = { nth: 2, does: chance.of(['none', 'done'] as const), ms: 0, says: 'the newest card' };
  return {
    held: false,
    wishes: wishing(history, { change }),
    service: {
      ...history.service,
      metadata: chance.of(['nowhere', 'nowhere', 'everywhere'] as const),
      behind: NOT_LATE,
    },
    lies: [change === 'create' ? second : { ...LOST, does: 'none' }],
    steps: [typed, ...(isFile ? [] : [again]), ...later],
  };
};

/** It happens long after its answer was lost, and somebody lets it be sent again who was told that no trace of it was found. */
const resentWhenLate: Corner = (chance, history) => {
  const [typed] = buying(history, [0], chance.is(0.5));
  const resume = { ...typed, act: { do: 'resume', of: typed.name, resend: true } } as const;
  return {
    held: false,
    probed: false,
    cap: 0,
    service: { ...history.service, wallet: 1_000_000, metadata: 'everywhere', behind: NOT_LATE, others: [] },
    lies: [{ ...LOST, does: 'later', ms: 20_000 }],
    steps: [typed, { ...resume, name: 98 }, { ...resume, name: 99, wait: chance.of([0, 30_000]) }],
  };
};

/** What came onto a card is spent before anybody looks, and by then its key is forgotten. */
const keyForgotten: Corner = (chance, history) => {
  const { dollars, card } = history.wishes[0] as Wish;
  const [typed] = buying(history, [0], true);
  const fate: Fate = { how: 'dies', nth: 1, effect: 0, when: 'after', ms: 0 };
  const act: Act = { do: 'resume', of: typed.name, resend: false };
  return {
    held: false,
    probed: true,
    cap: 0,
    wishes: wishing(history, { change: 'fund', intent: false }),
    service: {
      ...history.service,
      wallet: 1_000_000,
      keysMs: 600_000,
      limitsRepeats: false,
      diesAt: 0,
      repeated: 0,
      metadata: 'everywhere',
      behind: NOT_LATE,
      others: [{ at: 5_000, cents: -100 * dollars, card }],
    },
    lies: [],
    steps: [
      { ...typed, fate },
      { ...typed, name: 99, act, wait: chance.of([10_000, 900_000]) },
    ],
  };
};

/** "Later" is said of what was done, and for longer than anybody looks the wallet alone shows it. */
const walletAlone: Corner = (chance, history) => ({
  held: false,
  cap: 0,
  wishes: wishing(history, { intent: false }),
  service: {
    ...history.service,
    wallet: 1_000_000,
    keysMs: 0,
    metadata: 'everywhere',
    behind: { ...NOT_LATE, list: 9_000 + chance.below(3_000), card: 9_000 + chance.below(3_000) },
    others: [],
  },
  lies: [{ ...LOST, says: '429' }],
  steps: buying(history, [0], false).slice(0, 1),
});

const ALONE = [lateList, spentAtOnce, equalCards, refusedThoughDone, resentWhenLate, keyForgotten, walletAlone];

/** The first step, and who resumes it beside it on the second machine. */
function resumed({ steps }: History, fate: Fate | undefined, wait: number): Step[] {
  const [first, ...later] = steps as [Step, ...Step[]];
  const { fate: _, ...rest } = first;
  const act: Act = { do: 'resume', of: first.name, resend: false };
  return [
    { ...rest, machine: 0, ...(fate && { fate }) },
    { name: 99, machine: 1, act, wait, beside: true },
    ...later.map(step => ({ ...step, machine: step.machine % 2 })),
  ];
}

/** One stands still, another machine takes its op, and both have it for a moment. */
const twoAtAnOp: Corner = (chance, history) => {
  const isUnsent = chance.is(0.6);
  const at = isUnsent ? { nth: 0, effect: 94 + chance.below(30) } : { nth: 1, effect: chance.below(20) };
  const fate: Fate = { how: 'stands still', when: 'before', ms: 70_000, ...at };
  return {
    held: false,
    machines: [0, 0],
    lies: [{ ...LOST, says: isUnsent ? 'silence' : chance.of(['lost', 'honest'] as const) }],
    cuts: [],
    service: { ...history.service, diesAt: 0 },
    steps: resumed(history, fate, chance.of([60_500, 62_000, 66_000, 69_000])),
  };
};

const resumedBeside: Corner = (chance, history) => ({
  machines: [0, 0],
  steps: resumed(history, undefined, 20 + chance.below(200)).slice(0, 2),
});

function cutsOf(chance: Chance): Cut[] {
  const count = chance.of([0, 0, 0, 1, 1, 2]);
  return Array.from({ length: count }, () => ({
    nth: 1 + chance.below(12),
    when: chance.of(['before', 'after'] as const),
    awayMs: chance.of([0, 0, 1_000, 5_000, 20_000, 90_000]),
  }));
}

function settingsOf(chance: Chance, calm: boolean): Settings {
  const isLate = !calm && chance.is(0.35);
  const late = () => (isLate && chance.is(0.6) ? chance.below(12_000) : 0);
  return {
    wallet: chance.is(0.08) ? 1_500 : 1_000_000,
    keysMs: chance.of([0, 0, null, null, 3_000, 600_000]),
    limitsRepeats: chance.is(0.4),
    diesAt: chance.is(0.1) ? 1 + chance.below(4) : 0,
    repeated: chance.of([0, 0, 0, 0, 409, 422] as const),
    behind: { list: late(), card: late(), wallet: late(), fresh: late() },
    ignoresFilters: chance.is(0.15),
    metadata: chance.of(['everywhere', 'everywhere', 'everywhere', 'not in lists', 'nowhere'] as const),
    totals: chance.is(0.8),
    others: !calm && chance.is(0.15) ? [{ at: chance.below(60_000), cents: -777, card: chance.below(3) }] : [],
  };
}

function liesOf(chance: Chance, longest: number): Lie[] {
  if (chance.is(0.25)) return [];
  const count = chance.of([1, 1, 1, 2, 2, 3, 5]);
  const first = 1 + (chance.is(0.6) ? 0 : chance.below(4));
  return Array.from({ length: count }, (_, at) => {
    // Most answers that do not come are simply lost.
    const says: Saying = chance.is(0.3)
      ? chance.of(['lost', 'lost', 'silence', 'cut in its body'] as const)
      : chance.of(SAYING_NAMES);
    return { nth: first + at, ...doesOf(chance, says, longest), says };
  });
}

function doesOf(chance: Chance, says: Saying, longest: number): { does: Does; ms: number } {
  if (DEFINITE.has(says)) return { does: 'none', ms: 0 };
  if (says === 'honest') return { does: 'done', ms: 0 };
  const does = chance.of(['done', 'done', 'none', 'none', 'later'] as const);
  const late = chance.of([100, 1_500, 6_000, 20_000]);
  return { does, ms: does === 'later' ? Math.min(late, longest, says.startsWith('429') ? 1_500 : late) : 0 };
}

function fateOf(chance: Chance): Fate {
  const how = chance.of(['dies', 'dies', 'dies', 'dies', 'stands still', 'is interrupted'] as const);
  const isOfRequest = chance.is(0.8);
  const few = Math.floor(chance.fraction() ** 2 * 40);
  return {
    how,
    nth: isOfRequest ? chance.of([1, 1, 1, 2, 3]) : 0,
    effect: isOfRequest ? few : 1 + chance.below(150),
    when: chance.of(['before', 'after'] as const),
    ms: chance.of([2_000, 70_000, 400_000]),
  };
}

interface Around {
  readonly wishes: readonly Wish[];
  readonly machines: number;
  readonly calm: boolean;
  readonly held: boolean;
  readonly shared: boolean;
}

function stepsOf(chance: Chance, { wishes, machines, calm, held, shared }: Around): Step[] {
  const steps: Step[] = [];
  const fate = (probability: number) => (!calm && chance.is(probability) ? { fate: fateOf(chance) } : {});
  const machine = () => chance.below(machines);
  const add = (step: Omit<Step, 'name'>) => steps.push({ name: steps.length + 1, ...step });
  const buy = (at: number, beside: boolean) =>
    add({ machine: at, act: buyOf(chance, wishes), wait: beside ? chance.below(200) : 0, beside, ...fate(0.6) });
  buy(machine(), false);
  if (chance.is(0.15)) buy(machine(), chance.is(0.5));
  if (held)
    add({
      machine: shared ? machine() : (steps[0]?.machine ?? 0),
      act: decisionOn(chance, 1),
      wait: 0,
      beside: false,
      ...fate(0.2),
    });
  const more = 1 + chance.below(4);
  for (let n = 0; n < more; n += 1) {
    const of = chance.of(steps.filter(({ act }) => act.do === 'buy'));
    const wait = chance.of([0, 0, 0, 1_000, 9_000, 90_000, ...(chance.is(0.1) ? [26 * HOUR] : [])]);
    const beside = chance.is(0.2);
    const longest = shared ? chance.of([400, 30_000, 90_000, 150_000]) : 400;
    const at = chance.is(shared ? 0.5 : 0.9) ? of.machine : machine();
    const act = held && chance.is(0.2) ? decisionOn(chance, of.name) : goOn(chance, of.name, shared ? 1 : machines);
    add({
      machine: act.do === 'copy' ? machines - 1 : at,
      act,
      wait: beside ? chance.below(longest) : wait,
      beside,
      ...fate(0.2),
    });
  }
  const last = steps.pop() as Step;
  const of = steps.find(({ act }) => act.do === 'buy')?.name ?? 1;
  const other: Act = { do: 'repeat', of, as: 'other amounts', extra: chance.below(6) };
  return [...steps, chance.is(0.15) ? { ...last, act: other } : last];
}

function decisionOn(chance: Chance, of: number): Act {
  return { do: 'decide', of, as: chance.is(0.85) ? 'approve' : 'reject' };
}

function buyOf(chance: Chance, wishes: readonly Wish[]): Act {
  const how = chance.of(['command', 'command', 'command', 'file', 'file', 'library'] as const);
  const first = chance.below(wishes.length);
  if (how === 'library') {
    const named = wishes.findIndex(({ intent }) => intent);
    return { do: 'buy', wishes: [named === -1 ? first : named], how: named === -1 ? 'command' : how };
  }
  if (how === 'command') return { do: 'buy', wishes: [first], how };
  // A file is of one kind.
  const kind = wishes[first]?.change;
  const rows = wishes.flatMap((wish, at) => (wish.change === kind ? [at] : []));
  return { do: 'buy', wishes: chance.is(0.15) ? [...rows, rows[0] as number] : rows, how };
}

function goOn(chance: Chance, of: number, machines: number): Act {
  const kind = chance.below(20);
  if (chance.is(0.03)) return { do: 'reset' };
  if (kind < 7) return { do: 'repeat', of, as: 'the same', extra: 0 };
  if (kind < 14) return { do: 'resume', of, resend: chance.is(0.3) };
  if (kind < 17) {
    const as = chance.of(['one row more', 'first row gone', 'rows turned round', 'with again'] as const);
    return { do: 'repeat', of, as, extra: chance.below(6) };
  }
  if (kind < 18 && machines > 1) return { do: 'copy', from: 0, moves: chance.is(0.5) };
  if (kind < 19)
    return { do: 'state', change: chance.of(['freeze', 'unfreeze', 'terminate'] as const), card: 1 + chance.below(2) };
  return chance.is(0.5) ? { do: 'look' } : { do: 'clock', ms: chance.of([-HOUR, -90_000, 60_000, HOUR]) };
}

/** Shorter ones: something is left out, or is nothing. Not all of them make sense. */
export function* shorter<T>(value: T): Generator<T> {
  if (typeof value === 'number' && value !== 0) yield 0 as T;
  else if (value === true) yield false as T;
  else if (Array.isArray(value)) {
    for (const at of [...value.keys()].reverse()) yield value.toSpliced(at, 1) as T;
    for (const [at, each] of value.entries()) for (const other of shorter(each)) yield value.with(at, other) as T;
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      if (['name', 'of', 'card', 'dollars'].includes(name)) continue;
      if (name === 'fate') yield { ...value, fate: undefined };
      for (const other of shorter(each)) yield { ...value, [name]: other };
    }
  }
}
