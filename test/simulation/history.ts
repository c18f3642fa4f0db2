/**
 * A history: what is meant, what the service does to it, and what persons do one after the other or at once. It is plain data,
 * so that a failing one can be kept and made shorter. `historyOf` invents one from a seed.
 */
import { refusal } from '../support/card-books.ts';
import type { LostCommit } from '../support/simulated/postgres.ts';
import { Chance, type Fate } from '../support/simulated/world.ts';
import { type Does, type Lie, SAYINGS, type Settings } from './service.ts';

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

/** Somebody types a command, runs a file, or a program of his calls the library. */
export interface Buy {
  readonly do: 'buy';
  readonly wishes: readonly number[];
  readonly how: 'command' | 'file' | 'library';
  /** Under the intent of that other wish. */
  readonly named?: number;
  /** `--again`, where the answer to that step has named it. */
  readonly again?: number;
  /** What another step bought once more: how it was edited. */
  readonly as?: string;
}

/** Cards are brought to a balance, or made as a fleet says, and nobody says how often: whatever is done again, none passes it. */
export interface Aim {
  readonly do: 'aim';
  readonly how: 'fund' | 'withdraw' | 'policy' | 'fleet';
  /** Balance of the cards; of a fleet also the amount of its new card. */
  readonly dollars: number;
}

/** USD; a card of a fleet that holds less is brought to what is aimed at. */
export const FLOOR = 130;

export type Act =
  | Buy
  | Aim
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
  readonly lostCommits?: readonly LostCommit[];
  readonly steps: readonly Step[];
}

const HOUR = 3_600_000;

/** Of a seed. `isShared`: its machines share a journal in any case. */
export function historyOf(seed: number, isShared = false): History {
  const chance = new Chance(seed);
  const calm = chance.is(0.12);
  if (seed % 8 === 7) return aimed(chance, calm, isShared);
  const shared = chance.is(0.2) || isShared;
  const wishes = Array.from(
    { length: 2 + chance.below(4) },
    (_, n): Wish => ({
      change: chance.of(['create', 'create', 'create', 'fund', 'fund', 'withdraw']),
      dollars: 5 + n,
      card: 1 + chance.below(2),
      intent: chance.is(0.2),
      ...(n > 0 && chance.is(0.1) ? { named: n - 1 } : {}),
    }),
  );
  const service = settingsOf(chance, calm);
  // Without metadata it finds out nothing.
  const probed = chance.is(0.3) && service.metadata === 'everywhere';
  // A request that is queued for longer than a key lives that was proved to be honoured is beyond what anybody can know.
  const longest = probed && typeof service.keys === 'object' ? 1_500 : 20_000;
  const lies = calm || chance.is(0.25) ? [] : liesOf(chance, longest);
  const noise = chance.below(1e9);
  const around = {
    noise,
    wishes,
    service: { ...notTooLate(service, lies), replicas: noise % 2 === 0 },
    lies,
    machines: machinesOf(chance, shared),
    probed,
    held: chance.is(0.1),
    cap: chance.is(0.1) ? 100 * (6 + chance.below(20)) : 0,
    ...(shared ? { shared, lostCommits: calm ? [] : lostCommitsOf(chance) } : {}),
  };
  const history: History = { ...around, steps: stepsOf(chance, around, calm) };
  if (!chance.is(0.2)) return history;
  if (shared) return { ...history, ...(calm ? resumedBeside : twoAtAnOp)(chance, history) };
  return calm ? history : cornered(history, chance.of(CORNERS)(chance, history.wishes[0] as Wish));
}

/** "Later" has to be believed at last: what is shown for 8 s is taken for granted. */
function notTooLate(service: Settings, lies: readonly Lie[]): Settings {
  const slower = lies.some(({ says }) => says.startsWith('429')) ? 2 : 1;
  const behind = Object.entries(service.behind ?? {}).map(([what, ms]) => [what, ms / slower]);
  return { ...service, behind: Object.fromEntries(behind) };
}

function machinesOf(chance: Chance, shared: boolean): number[] {
  const count = shared ? chance.below(3) : chance.of([0, 0, 0, 0, 0, 0, 1, 1, 2]);
  const ahead = shared ? [-HOUR, 0, 0, HOUR] : [-90_000, 0, 4_000, HOUR];
  const first = shared || count > 0 ? 0 : chance.of([0, 0, 0, -HOUR, 60_000]);
  return [first, ...Array.from({ length: count }, () => chance.of(ahead))];
}

function settingsOf(chance: Chance, calm: boolean): Settings {
  const isLate = !calm && chance.is(0.35);
  const late = () => (isLate && chance.is(0.6) ? chance.below(12_000) : 0);
  return {
    walletCents: chance.is(0.08) ? 1_500 : 1_000_000,
    keys: chance.of([
      ...(['ignored', 'ignored', 'honoured', 'honoured'] as const),
      { forgottenAfterMs: 3_000 },
      { forgottenAfterMs: 600_000 },
      { repeated: refusal(chance.of([409, 422]), 'idempotency_key_reused') },
    ]),
    limitsRepeats: chance.is(0.4),
    diesAt: chance.is(0.1) ? 1 + chance.below(4) : 0,
    behind: { listMs: late(), cardMs: late(), walletMs: late(), newMs: late() },
    ignoresFilters: chance.is(0.15),
    metadata: chance.of(['everywhere', 'everywhere', 'everywhere', 'not-in-lists', 'nowhere']),
    totals: chance.is(0.8),
    others: !calm && chance.is(0.15) ? [{ at: chance.below(60_000), cents: -777, card: chance.below(3) }] : [],
  };
}

/** Classes of what is said; most answers that do not come are simply lost. */
const CLASSES = 'lost lost lost no-in-2xx mute other accepted broken throttled no odd-no'.split(' ');

function liesOf(chance: Chance, longest: number): Lie[] {
  const first = 1 + (chance.is(0.6) ? 0 : chance.below(4));
  return Array.from({ length: chance.of([1, 1, 1, 2, 2, 3, 5]) }, (_, at): Lie => {
    const kind = chance.of(CLASSES);
    const { name } = chance.of([...SAYINGS.values()].filter(saying => saying.says === kind && mayBeFirst(saying)));
    const does = kind === 'no' ? 'none' : chance.of<Does>(['done', 'done', 'none', 'none', 'later']);
    const late = Math.min(chance.of([100, 1_500, 6_000, 20_000]), kind === 'throttled' ? 1_500 : longest);
    return { nth: first + at, does, ms: does === 'later' ? late : 0, says: name };
  });
}

/** A refusal in the form of the service is believed where it comes first: so it comes behind nothing that was done, or never first. */
export const mayBeFirst = ({ says, name }: { readonly says: string; readonly name: string }) =>
  says !== 'odd-no' || name.startsWith('409') || name.endsWith('html') || name.includes('idempotency');

const lostCommitsOf = (chance: Chance): LostCommit[] =>
  Array.from({ length: chance.of([0, 0, 0, 1, 1, 2]) }, () => ({
    nth: 1 + chance.below(12),
    when: chance.of(['before', 'after']),
    awayMs: chance.of([0, 0, 1_000, 5_000, 20_000, 90_000]),
  }));

function fateOf(chance: Chance): Fate {
  const isOfRequest = chance.is(0.8);
  return {
    how: chance.of(['dies', 'dies', 'dies', 'dies', 'stands still', 'is interrupted']),
    nth: isOfRequest ? chance.of([1, 1, 1, 2, 3]) : 0,
    effect: isOfRequest ? Math.floor(chance.fraction() ** 2 * 40) : 1 + chance.below(150),
    when: chance.of(['before', 'after']),
    ms: chance.of([2_000, 70_000, 400_000]),
  };
}

/** Somebody buys; perhaps somebody decides; and then somebody goes on, one to four times. */
function stepsOf(chance: Chance, history: Omit<History, 'steps'>, calm: boolean): Step[] {
  const { wishes, held, shared = false } = history;
  const machines = history.machines.length;
  const steps: Step[] = [];
  const machine = () => chance.below(machines);
  const add = (fated: number, step: Omit<Step, 'name'>) =>
    steps.push({ name: steps.length + 1, ...step, ...(!calm && chance.is(fated) ? { fate: fateOf(chance) } : {}) });
  const buy = (beside: boolean) =>
    add(0.6, { machine: machine(), act: buyOf(chance, wishes), wait: beside ? chance.below(200) : 0, beside });
  buy(false);
  if (chance.is(0.15)) buy(chance.is(0.5));
  const decider = shared ? machine() : (steps[0]?.machine ?? 0);
  if (held) add(0.2, { machine: decider, act: decisionOn(chance, steps[0] as Buying, wishes), wait: 0, beside: false });
  for (let left = 1 + chance.below(4); left > 0; left -= 1) {
    const of = chance.of(steps.filter(isBuying));
    const beside = chance.is(0.2);
    const longest = shared ? chance.of([400, 30_000, 90_000, 150_000]) : 400;
    const wait = beside ? chance.below(longest) : chance.of([0, 0, 0, 1_000, 9_000, 90_000]);
    const way = held && chance.is(0.2) ? decisionOn : chance.weighed(WAYS);
    const act = way(chance, of, wishes);
    const at = act.do === 'copy' ? machines - 1 : chance.is(shared ? 0.5 : 0.9) ? of.machine : machine();
    if (act.do === 'copy' && (shared || machines === 1)) continue;
    add(0.2, { machine: at, act, wait: chance.is(0.02) && !beside ? 26 * HOUR : wait, beside });
  }
  return steps;
}

function buyOf(chance: Chance, wishes: readonly Wish[]): Buy {
  const how = chance.of(['command', 'command', 'command', 'file', 'file', 'library'] as const);
  const first = chance.below(wishes.length);
  const named = wishes.findIndex(({ intent }) => intent);
  // The library wants an intent.
  if (how === 'library' && named !== -1) return { do: 'buy', wishes: [named], how };
  if (how !== 'file') return { do: 'buy', wishes: [first], how: 'command' };
  // A file is of one kind.
  const kind = wishes[first]?.change;
  const rows = wishes.flatMap((wish, at) => (wish.change === kind ? [at] : []));
  return { do: 'buy', wishes: chance.is(0.15) ? [...rows, rows[0] as number] : rows, how };
}

type Buying = Step & { readonly act: Buy };
const isBuying = (step: Step): step is Buying => step.act.do === 'buy';

/** A way to go on with what a step has bought. */
type Way = (chance: Chance, of: Buying, wishes: readonly Wish[]) => Act;

const decisionOn: Way = (chance, { name: of }) => ({ do: 'decide', of, as: chance.is(0.85) ? 'approve' : 'reject' });

/** It is bought once more, a file with its rows edited. */
const repeat =
  (as: string, edited: (rows: readonly number[], like: readonly number[], chance: Chance) => readonly number[]): Way =>
  (chance, { act }, wishes) => {
    const kind = wishes[act.wishes[0] ?? 0]?.change;
    const like = [...wishes.keys()].filter(at => wishes[at]?.change === kind);
    const rows = act.how === 'file' ? edited(act.wishes, like, chance) : act.wishes;
    return { ...act, as, wishes: rows.length > 0 ? rows : act.wishes };
  };

/** Another wish in the place of each, under the intent of the first where it has one. */
const otherAmounts: Way = (_chance, { act }, wishes) => {
  const next = (at: number) => {
    const isLike = (each: number) =>
      wishes[each]?.change === wishes[at]?.change && wishes[each]?.card === wishes[at]?.card;
    const like = [...wishes.keys()].filter(each => each === at || isLike(each));
    return like[(like.indexOf(at) + 1) % like.length] as number;
  };
  const [first = 0] = act.wishes;
  const named =
    act.how !== 'file' && wishes[first]?.intent ? { named: act.named ?? wishes[first]?.named ?? first } : {};
  return { ...act, as: 'other amounts', wishes: act.wishes.map(next), ...named };
};

/** Each with how often it is gone. */
const WAYS: readonly (readonly [times: number, Way])[] = [
  [66, repeat('the same', rows => rows)],
  [66, (chance, { name: of }) => ({ do: 'resume', of, resend: chance.is(0.3) })],
  [12, otherAmounts],
  [7, repeat('one row more', (rows, like, chance) => [...rows, chance.of(like)])],
  [7, repeat('first row gone', rows => rows.slice(1))],
  [7, repeat('rows turned round', rows => rows.toReversed())],
  [7, (_chance, { name: again, act }) => ({ ...act, as: 'with again', again })],
  [8, chance => ({ do: 'copy', from: 0, moves: chance.is(0.5) })],
  [16, chance => ({ do: 'state', change: chance.of(['freeze', 'unfreeze', 'terminate']), card: 1 + chance.below(2) })],
  [5, () => ({ do: 'look' })],
  [5, chance => ({ do: 'clock', ms: chance.of([-HOUR, -90_000, 60_000, HOUR]) })],
  [6, () => ({ do: 'reset' })],
];

/** Machines that know of each other bring the same cards to a balance, now and then while somebody else moves money there. */
function aimed(chance: Chance, calm: boolean, isShared: boolean): History {
  const shared = isShared || chance.is(0.2);
  const { others: _, ...service } = { ...settingsOf(chance, calm), walletCents: 1_000_000 };
  const hows = chance.of<readonly Aim['how'][]>([['fund'], ['withdraw', 'policy'], ['fleet'], ['fleet']]);
  const isDown = hows.length > 1;
  // What somebody moves the other way may come between a look and a request, and is no fault of that.
  const moved = Array.from({ length: calm ? 0 : chance.below(3) }, () => ({
    at: chance.below(60_000),
    cents: isDown ? 777 : -777,
    card: 1 + chance.below(2),
  }));
  const aim = (): Aim => ({
    do: 'aim',
    how: chance.of(hows),
    dollars: chance.of(isDown ? [50, 50, 40] : [150, 150, 160]),
  });
  const machines = machinesOf(chance, shared).slice(0, shared ? 2 : 1);
  const steps: Step[] = [];
  for (let name = 1; name <= 2 + chance.below(3); name += 1) {
    const of = 1 + chance.below(name);
    const isNew = of === name || chance.is(0.6);
    const beside = name > 1 && chance.is(hows.includes('fleet') ? 0.5 : 0.25);
    const wait = beside ? chance.below(shared ? 60_000 : 400) : chance.of([0, 0, 1_000, 9_000, 160_000]);
    const act: Act = isNew ? aim() : { do: 'resume', of, resend: chance.is(0.3) };
    const fate = !calm && chance.is(0.4) ? { fate: fateOf(chance) } : {};
    steps.push({ name, machine: chance.below(machines.length), act, wait, beside, ...fate });
  }
  const lies = calm || chance.is(0.25) ? [] : liesOf(chance, 20_000);
  return {
    noise: chance.below(1e9),
    wishes: [],
    service: notTooLate({ ...service, others: moved }, lies),
    lies,
    machines,
    probed: false,
    held: false,
    cap: 0,
    ...(shared && { shared, lostCommits: calm ? [] : lostCommitsOf(chance) }),
    steps,
  };
}

// Corners: what seldom comes together by chance. The first wish is typed, at a service that is quick and rich but for what is said.

interface Corner {
  readonly change?: Wish['change'];
  readonly service?: Partial<Settings>;
  readonly says: string;
  readonly lie?: Partial<Lie>;
  readonly also?: readonly Lie[];
  readonly probed?: boolean;
  /** Rows of a file; a command without. */
  readonly file?: readonly number[] | undefined;
  readonly fate?: Fate;
  /** What is done next, and nothing else; what the history has in it where this is left out. */
  readonly then?: readonly (Pick<Step, 'act' | 'wait'> & { readonly beside?: boolean })[];
}

const RICH = { walletCents: 1_000_000, metadata: 'everywhere', behind: {}, others: [] } as const;
const QUICK = { ...RICH, diesAt: 0, limitsRepeats: false };

function cornered(history: History, corner: Corner): History {
  const { change, service, says, lie, also = [], probed = false, file, fate, then } = corner;
  const [first, ...later] = history.steps as [Step, ...Step[]];
  const act: Act = { do: 'buy', wishes: file ?? [0], how: file === undefined ? 'command' : 'file' };
  const next = then?.map((step, n): Step => ({ name: 98 + n, machine: first.machine, beside: false, ...step }));
  return {
    ...history,
    held: false,
    cap: 0,
    probed,
    wishes: history.wishes.map((wish, n) => (n < 2 && change !== undefined ? { ...wish, change } : wish)),
    service: { ...history.service, ...QUICK, ...service },
    lies: [{ nth: 1, does: 'done', ms: 0, says, ...lie }, ...also],
    steps: [
      { name: 1, machine: first.machine, act, wait: 0, beside: false, ...(fate && { fate }) },
      ...(next ?? later),
    ],
  };
}

const LOST = 'lost before-headers';
const resume = (resend: boolean): Act => ({ do: 'resume', of: 1, resend });

const CORNERS: readonly ((chance: Chance, first: Wish) => Corner)[] = [
  // A list is behind, for longer than anybody looks or not; keys are honoured, or throttled where they are used again.
  chance => {
    const isShort = chance.is(0.3);
    const drawn = chance.of(['400 insufficient_funds', '400 invalid_request', '422 idempotency_key_reused', 'honest']);
    // Beside another row the wallet is no evidence.
    const file = chance.is(0.6) ? [0, 1] : undefined;
    const keys = chance.of(['ignored', 'honoured', { forgottenAfterMs: 600_000 }] as const);
    const limitsRepeats = chance.is(0.5);
    // Whoever takes an ignored key for an honoured one makes a second card.
    const answer = keys === 'ignored' && limitsRepeats ? 'honest' : drawn;
    return {
      change: 'create',
      probed: true,
      service: {
        keys,
        limitsRepeats,
        behind: { listMs: isShort ? 1_000 + chance.below(5_000) : 8_500 + chance.below(3_500) },
      },
      says: isShort ? '400 odd word' : LOST,
      lie: !isShort && chance.is(0.5) ? { does: 'later', ms: 20_000 } : {},
      also: [{ nth: file ? 3 : 2, does: answer === 'honest' ? 'done' : 'none', ms: 0, says: answer }],
      file,
    };
  },
  // A refusal is said behind the deed. What tells it is current: the wallet and the total, beside rows that are behind; or readings fail.
  chance => ({
    change: chance.of(['create', 'create', 'fund', 'withdraw']),
    service: {
      totals: true,
      totalsAhead: true,
      ...(chance.is(0.5)
        ? { failing: { how: chance.of(['lost', '503']), ms: chance.of([500, 5_000, 60_000]) } }
        : { behind: { listMs: chance.of([0, 2_000, 6_000]) } }),
    },
    says: chance.of(['400 insufficient_funds', '400 invalid_request', '401', '403', '404 not_found', '422 odd word']),
    file: chance.is(0.4) ? [0, 0] : undefined,
  }),
  // A row is refused behind the deed, and before its run has compared it the same file is run at another terminal, or gone on with.
  chance => {
    const again: Act = { do: 'buy', wishes: [0], how: 'file', as: 'the same' };
    const isKilled = chance.is(0.4);
    return {
      change: 'create',
      says: chance.of(['400 invalid_request', '422 odd word', '404 not_found']),
      file: [0],
      ...(isKilled && { fate: { how: 'dies', nth: 1, effect: 12 + chance.below(30), when: 'before', ms: 0 } }),
      then: [
        { act: again, wait: chance.below(8_000), beside: !isKilled },
        { act: resume(false), wait: 20_000 },
      ],
    };
  },
  // What came onto a card is spent at once, and somebody lets be sent again what leaves no trace. In a file the wallet is no evidence.
  (chance, { dollars, card }) => {
    const file = chance.is(0.5) ? [0] : undefined;
    const at = file ? 100 + chance.below(200) : 60 + chance.below(6_000);
    return {
      change: 'fund',
      service: { others: [{ at, cents: -100 * dollars, card }] },
      says: chance.of([LOST, file ? LOST : '429', '503', '409 idempotency_in_progress']),
      file,
      then: file ? [0, 0].map(wait => ({ act: resume(true), wait })) : [{ act: resume(false), wait: 0 }],
    };
  },
  // Two equal purchases: an answer names the card of the other one, or one of two transfers is lost, and the first one shows late.
  chance => {
    const change = chance.of(['create', 'create', 'fund', 'withdraw'] as const);
    const service = { metadata: chance.of(['nowhere', 'nowhere', 'everywhere'] as const) };
    const again: Act = { do: 'buy', wishes: [0], how: 'command', as: 'the same' };
    if (change !== 'create') {
      const lost = { change, says: LOST, lie: { nth: chance.of([1, 2]), does: 'none' as const } };
      if (lost.lie.nth === 1) return { ...lost, service, file: [0, 0] };
      const replicas = { replicas: true, behind: { cardMs: 1_000 + chance.below(7_000) } };
      return { ...lost, service: replicas, then: [{ act: again, wait: 0 }] };
    }
    const lie = { nth: 2, does: chance.of(['none', 'done'] as const) };
    const twice = chance.is(0.3) ? { file: [0, 0] } : { then: [{ act: again, wait: 0 }] };
    return { change, service, says: '201 newest card', lie, ...twice };
  },
  // It happens long after its answer was lost, and somebody lets it be sent again, of which no trace was found.
  chance => ({
    says: LOST,
    lie: { does: 'later', ms: 20_000 },
    file: chance.is(0.5) ? [0] : undefined,
    then: [
      { act: resume(true), wait: 0 },
      { act: resume(true), wait: chance.of([0, 30_000]) },
    ],
  }),
  // What came onto a card is spent before anybody looks, and by then its key is forgotten.
  (chance, { dollars, card }) => ({
    change: 'fund',
    probed: true,
    service: { keys: { forgottenAfterMs: 600_000 }, others: [{ at: 5_000, cents: -100 * dollars, card }] },
    says: 'honest',
    file: [0],
    fate: { how: 'dies', nth: 1, effect: 0, when: 'after', ms: 0 },
    then: [{ act: resume(false), wait: chance.of([10_000, 900_000]) }],
  }),
  // A process dies behind its answer, and somebody who was told no exit code types the same command again.
  chance => ({
    says: 'honest',
    fate: { how: 'dies', nth: 1, effect: 12 + chance.below(40), when: 'before', ms: 0 },
    then: [{ act: { do: 'buy', wishes: [0], how: 'command', as: 'the same' }, wait: 1_000 }],
  }),
  // "Later" is said of what was done, and for longer than anybody looks the wallet alone shows it.
  chance => ({
    service: { keys: 'ignored', behind: { listMs: 9_000 + chance.below(3_000), cardMs: 9_000 + chance.below(3_000) } },
    says: '429',
    then: [],
  }),
];

/** The first step, and who resumes it beside it on the second machine. */
function resumed({ steps }: History, fate: Fate | undefined, wait: number): Step[] {
  const [{ fate: _, ...first }, ...later] = steps as [Step, ...Step[]];
  return [
    { ...first, machine: 0, ...(fate && { fate }) },
    { name: 99, machine: 1, act: { do: 'resume', of: first.name, resend: false }, wait, beside: true },
    ...later.map(step => ({ ...step, machine: step.machine % 2 })),
  ];
}

/** One stands still, another machine takes its op, and both have it for a moment. */
function twoAtAnOp(chance: Chance, history: History): Partial<History> {
  const isUnsent = chance.is(0.6);
  const at = isUnsent ? { nth: 0, effect: 82 + chance.below(30) } : { nth: 1, effect: chance.below(20) };
  const fate: Fate = { how: 'stands still', when: 'before', ms: 70_000, ...at };
  return {
    held: false,
    machines: [0, 0],
    lies: [{ nth: 1, does: 'done', ms: 0, says: isUnsent ? 'silence' : chance.of([LOST, 'honest']) }],
    lostCommits: [],
    service: { ...history.service, diesAt: 0 },
    steps: resumed(history, fate, chance.of([60_500, 62_000, 66_000, 69_000])),
  };
}

const resumedBeside = (chance: Chance, history: History): Partial<History> => ({
  machines: [0, 0],
  steps: resumed(history, undefined, 20 + chance.below(200)).slice(0, 2),
});

/** Shorter ones: something is left out, or is nothing. Not all of them make sense. */
export function* shorter<T>(value: T): Generator<T> {
  if (typeof value === 'number' && value !== 0) yield 0 as T;
  else if (value === true) yield false as T;
  else if (Array.isArray(value)) {
    for (const at of [...value.keys()].reverse()) yield value.toSpliced(at, 1) as T;
    for (const [at, each] of value.entries()) for (const other of shorter(each)) yield value.with(at, other) as T;
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      if (['name', 'of', 'again', 'card', 'dollars'].includes(name)) continue;
      if (name === 'fate') yield { ...value, fate: undefined };
      for (const other of shorter(each)) yield { ...value, [name]: other };
    }
  }
}
