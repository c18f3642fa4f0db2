/** Rules taken out, one at a time, each with bounds in which that is seen. */
import { OURS, type Rules } from './rules.ts';
import type { Bounds } from './world.ts';

/** Two operators who want the same purchase under one name, one command each. */
export const TWO: Bounds = {
  operators: 2,
  wants: [1, 1],
  sentWithClaim: true,
  keys: 'ignored',
  resendAbsent: false,
  standsStill: true,
  clocks: [0, 0],
  cap: 2,
  ticks: 4,
  crashes: 1,
  lostAnswers: 1,
  commands: [1, 1],
  failover: false,
};

/** `--resend-absent`: safe while no process stands still between its last look at the lease and its request. */
export const RESENDING: Bounds = { ...TWO, resendAbsent: true, standsStill: false, lostAnswers: 0 };

/** Without names: the same command once more behind one that was killed. */
export const NAMELESS: Bounds = {
  ...TWO,
  nameless: true,
  wants: [1, 2],
  standsStill: false,
  lostAnswers: 0,
  cap: 1,
  ticks: 3,
  commands: [2, 1],
};

export const FAILOVER: Bounds = {
  ...TWO,
  failover: true,
  pushed: 'everybody',
  crashes: 0,
  lostAnswers: 0,
};

/** Nothing fails: the shortest histories need no more. */
const CALM = { crashes: 0, lostAnswers: 0 } as const;

export interface Mutant {
  readonly what: string;
  readonly bounds: Bounds;
  readonly rules: Rules;
}

export const MUTANTS: readonly Mutant[] = [
  {
    what: 'no fence on SENT',
    bounds: { ...TWO, ...CALM, sentWithClaim: false },
    rules: { ...OURS, isSentFenced: false },
  },
  {
    what: 'who takes an op over sends it again without looking',
    bounds: { ...TWO, ...CALM },
    rules: { ...OURS, nextStep: facts => (facts.mayWait ? 'resend' : OURS.nextStep(facts)) },
  },
  {
    what: 'the clock of a client decides whether a lease is over',
    bounds: { ...RESENDING, ...CALM, clocks: [0, 2] },
    rules: { ...OURS, leaseClock: 'client' },
  },
  {
    what: 'cents of an unknown outcome are held no longer',
    bounds: { ...TWO, ...CALM, wants: [1, 2], cap: 1 },
    rules: { ...OURS, holdsUnknown: false },
  },
  {
    what: 'a standby is accepted when those have pushed whom it remembers',
    bounds: { ...FAILOVER, pushed: 'remembered' },
    rules: OURS,
  },
  {
    what: 'an equal create under a living lease is let through',
    bounds: { ...NAMELESS, cap: 2 },
    rules: { ...OURS, refusesUnderLease: false },
  },
  { what: 'an op that is finished ends once more', bounds: { ...TWO, ...CALM }, rules: { ...OURS, endsOnce: false } },
  {
    what: 'the quiet period counts from SENT, whoever had the op since',
    bounds: { ...RESENDING, ...CALM },
    rules: { ...OURS, sentUntilBy: () => () => 0 },
  },
];
