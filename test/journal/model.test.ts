/**
 * Every interleaving of loss, delay, crash, timeout and key expiry for one create
 * (docs/design/reliability.md, section 6, "Why these policies"). The naive policies must fail here, or the search could
 * not find anything; ours is the very function the program uses.
 */
import { describe, expect, test } from 'vitest';
import { nextStep, type UnknownFacts } from '../../src/journal/execution/policy.ts';

type Server = 'honoured' | 'may expire' | 'ignored' | 'ignored, stale list';
const SERVERS: readonly Server[] = ['honoured', 'may expire', 'ignored', 'ignored, stale list'];

type Found = UnknownFacts['found'];

interface OnWire {
  readonly key: number;
  readonly fresh: boolean;
}

interface State {
  /** Cards made. */
  readonly cards: number;
  /** Requests on their way, by key, those sent in the first half of the key's life as `fresh`; may arrive or not. */
  readonly wire: readonly OnWire[];
  /** Keys the service remembers. */
  readonly known: readonly number[];
  /** Keys of answers on their way. */
  readonly answers: readonly number[];
  /** The client: waits for the answer to the latest sending, does not know, or has come to an end. */
  readonly phase: 'waiting' | 'unknown' | 'done' | 'left';
  readonly found: Found | null;
  readonly settled: boolean;
  readonly key: number;
  readonly sends: number;
  readonly keys: number;
  readonly age: 'young' | 'old' | 'expired';
  readonly crashes: number;
  readonly timeouts: number;
}

type Move = 'look' | 'wait' | 'resend' | 'new-key' | 'done' | 'leave';

/** What a client does about an unknown outcome; `crashed` when its process is a new one. */
type Policy = (state: State, server: Server, crashed: boolean) => Move;

const LIMITS = { sends: 4, crashes: 3, timeouts: 3 };

const afterLooking = ({ found }: State, otherwise: Move): Move =>
  found === null ? 'look' : found === 'nothing' ? otherwise : 'done';

const NAIVE: Readonly<Record<string, Policy>> = {
  'A new key per try': () => 'new-key',
  'B key per process': (_state, _server, crashed) => (crashed ? 'new-key' : 'resend'),
  'C journal, same key, resend': () => 'resend',
  'D journal, reconcile at once': state => afterLooking(state, 'resend'),
  'E journal, settle, reconcile': state => (state.settled ? afterLooking(state, 'resend') : 'wait'),
  'F journal, never resend': state => afterLooking(state, 'leave'),
};

/** The program's own: what is known of the service decides. */
const ours =
  ({ declared, resendAbsent }: { declared: boolean; resendAbsent: boolean }): Policy =>
  (state, server) => {
    const honoured = declared && (server === 'honoured' || server === 'may expire');
    const step = nextStep({
      trace: 'marker',
      keyHonoured: honoured && state.age === 'young',
      lifeKnown: server === 'honoured',
      isDenied: state.found === 'nothing',
      freely: false,
      quiet: state.settled,
      found: state.found ?? undefined,
      resendAbsent,
      mayWait: true,
    });
    return step === 'duplicate' ? 'done' : step;
  };

const START: State = {
  cards: 0,
  wire: [{ key: 1, fresh: true }],
  known: [],
  answers: [],
  phase: 'waiting',
  found: null,
  settled: false,
  key: 1,
  sends: 1,
  keys: 1,
  age: 'young',
  crashes: 0,
  timeouts: 0,
};

const without = <T>(list: readonly T[], at: number) => list.filter((_, index) => index !== at);

/** What the network and the service may do next. */
function surroundings(state: State, server: Server): State[] {
  const next: State[] = [];
  const { wire, answers, known, cards, phase, age } = state;
  wire.forEach(({ key }, at) => {
    next.push({ ...state, wire: without(wire, at) });
    const remembered = !server.startsWith('ignored') && known.includes(key);
    const arrived = {
      ...state,
      wire: without(wire, at),
      known: [...new Set([...known, key])].sort(),
      cards: cards + (remembered ? 0 : 1),
    };
    next.push(arrived, { ...arrived, answers: [...answers, key].sort() });
  });
  answers.forEach((key, at) => {
    const gone = { ...state, answers: without(answers, at) };
    next.push(gone);
    if (phase === 'waiting' && key === state.key) next.push({ ...gone, phase: 'done' });
  });
  if (age === 'young') next.push({ ...state, age: 'old' });
  // Nothing stays on its way for half of a key's life: that is why half of it is used.
  if (age === 'old' && server === 'may expire' && !wire.some(({ fresh }) => fresh))
    next.push({ ...state, age: 'expired', known: [] });
  return next;
}

/** What the client may do next. */
function client(state: State, server: Server, policy: Policy): State[] {
  if (state.phase === 'waiting') {
    const lost = { ...state, phase: 'unknown', found: null, settled: false } as const;
    return [
      ...(state.timeouts < LIMITS.timeouts
        ? [act({ ...lost, timeouts: state.timeouts + 1 }, policy, { server, crashed: false })].flat()
        : []),
      ...(state.crashes < LIMITS.crashes
        ? [act({ ...lost, crashes: state.crashes + 1 }, policy, { server, crashed: true })].flat()
        : []),
    ];
  }
  return state.phase === 'unknown' ? act(state, policy, { server, crashed: false }) : [];
}

function act(state: State, policy: Policy, { server, crashed }: { server: Server; crashed: boolean }): State[] {
  const { key, keys, sends, wire, cards } = state;
  const move = policy(state, server, crashed);
  switch (move) {
    case 'look': {
      const truth: Found = cards === 0 ? 'nothing' : cards === 1 ? 'it' : 'several';
      const seen: Found[] = server === 'ignored, stale list' ? ['nothing', truth] : [truth];
      return seen.map(found => ({ ...state, found }));
    }
    case 'wait':
      // Settling takes for granted that nothing is on its way any more; until then the client just waits.
      return wire.length === 0 ? [{ ...state, settled: true, found: null }] : [state];
    case 'resend':
    case 'new-key': {
      if (sends === LIMITS.sends) return [];
      const used = move === 'resend' ? key : keys + 1;
      const onWire = [...wire, { key: used, fresh: state.age === 'young' }];
      onWire.sort((one, other) => one.key - other.key || Number(one.fresh) - Number(other.fresh));
      const again = { key: used, keys: Math.max(keys, used), sends: sends + 1, wire: onWire };
      return [{ ...state, ...again, phase: 'waiting', found: null, settled: false }];
    }
    case 'done':
      return [{ ...state, phase: 'done' }];
    case 'leave':
      return [{ ...state, phase: 'left' }];
  }
}

interface Searched {
  readonly states: number;
  readonly mostCards: number;
  /** Ends that claim a card where there is none and none can come. */
  readonly falseDone: number;
}

function search(policy: Policy, server: Server): Searched {
  const seen = new Set<string>();
  const open: State[] = [START];
  let [mostCards, falseDone] = [0, 0];
  while (open.length > 0) {
    const state = open.pop() ?? START;
    const name = JSON.stringify(Object.values(state));
    if (seen.has(name)) continue;
    seen.add(name);
    mostCards = Math.max(mostCards, state.cards);
    if (state.phase === 'done' && state.cards === 0) falseDone += 1;
    open.push(...surroundings(state, server), ...client(state, server, policy));
  }
  return { states: seen.size, mostCards, falseDone };
}

const results = new Map<string, readonly Searched[]>();
const all: Readonly<Record<string, Policy>> = {
  ...NAIVE,
  'ours, nothing known of keys': ours({ declared: false, resendAbsent: false }),
  'ours, keys known': ours({ declared: true, resendAbsent: false }),
  'ours, --resend-absent': ours({ declared: false, resendAbsent: true }),
};
for (const [name, policy] of Object.entries(all))
  results.set(
    name,
    SERVERS.map(server => search(policy, server)),
  );

/** One card, or more than one, per server. */
const TABLE: Readonly<Record<string, readonly ('1' | 'more')[]>> = {
  'A new key per try': ['more', 'more', 'more', 'more'],
  'B key per process': ['more', 'more', 'more', 'more'],
  'C journal, same key, resend': ['1', 'more', 'more', 'more'],
  'D journal, reconcile at once': ['1', 'more', 'more', 'more'],
  'E journal, settle, reconcile': ['1', '1', '1', 'more'],
  'F journal, never resend': ['1', '1', '1', '1'],
  'ours, nothing known of keys': ['1', '1', '1', '1'],
  'ours, keys known': ['1', '1', '1', '1'],
  'ours, --resend-absent': ['1', '1', '1', 'more'],
};

describe('most cards of one create', () => {
  test.each(Object.entries(TABLE))('%s', (name, expected) => {
    const found = results.get(name)?.map(({ mostCards }) => (mostCards > 1 ? 'more' : '1'));
    expect(found).toEqual(expected);
  });

  test('nobody says done where no card is', () => {
    for (const [name, searched] of results) {
      expect(
        searched.map(({ falseDone }) => falseDone),
        name,
      ).toEqual([0, 0, 0, 0]);
    }
  });

  test('the search is not empty', () => {
    const states = [...results.values()].flat().reduce((sum, each) => sum + each.states, 0);
    expect(states).toBeGreaterThan(50_000);
  });
});
