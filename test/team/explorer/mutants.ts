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
  replaced: 'by a standby',
  pushed: 'everybody',
  crashes: 0,
  lostAnswers: 0,
};

/** A backup that lacks the last commit: who knows nothing of that uses the name once more. */
export const BACKUP: Bounds = {
  ...FAILOVER,
  replaced: 'by a backup',
  standsStill: false,
  acceptsClashes: true,
  ticks: 1,
};

/** Behind such a backup, when an admin has accepted it: two ops have one name, and each may have been carried out. */
export const CLASH: Bounds = {
  ...TWO,
  clash: true,
  byHand: true,
  acceptsClashes: true,
  standsStill: false,
  crashes: 0,
  lostAnswers: 0,
  ticks: 2,
  commands: [2, 2],
};

/** One machine has used the name in its own files, and moves that op when another one has used it in the journal. */
export const FILES: Bounds = {
  ...TWO,
  resendAbsent: true,
  standsStill: false,
  acceptsClashes: true,
  crashes: 0,
  lostAnswers: 0,
  refusals: 1,
  ticks: 3,
  files: ['unknown', 'nothing'],
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
  {
    what: 'what a colleague has ended is not kept from who began it',
    bounds: { ...NAMELESS, cap: 2 },
    rules: { ...OURS, keepsNotTold: false },
  },
  {
    what: 'a command that was killed behind its end is forgotten',
    bounds: { ...NAMELESS, cap: 2, lostAnswers: 1 },
    rules: { ...OURS, notesLeft: false },
  },
  { what: 'an op that is finished ends once more', bounds: { ...TWO, ...CALM }, rules: { ...OURS, endsOnce: false } },
  {
    what: 'the quiet period counts from SENT, whoever had the op since',
    bounds: { ...RESENDING, ...CALM },
    rules: { ...OURS, sentUntilBy: () => () => 0 },
  },
  {
    what: 'a backup is accepted when those have pushed whom it remembers',
    bounds: { ...BACKUP, pushed: 'remembered' },
    rules: OURS,
  },
  {
    what: 'an accepted clash lets the name be used a third time',
    bounds: { ...CLASH, commands: [3, 2] },
    rules: { ...OURS, acceptsWithoutEffect: false },
  },
  {
    what: 'a push brings a name over that of another op',
    bounds: { ...BACKUP, commands: [2, 1] },
    rules: { ...OURS, leavesNames: false },
  },
  {
    what: 'the name of two ops is free when the one that has it comes to nothing',
    bounds: { ...CLASH, commands: [3, 2] },
    rules: { ...OURS, passesNames: false },
  },
  {
    what: 'a resume sends what was brought, although another op has its name',
    bounds: { ...CLASH, keys: 'honoured' },
    rules: { ...OURS, ownerOf: () => () => undefined },
  },
  {
    what: 'what a copy shows to be lost of an op is not brought',
    bounds: { ...BACKUP, sentWithClaim: false, commands: [2, 1], ticks: 0 },
    rules: { ...OURS, recordsLost: () => undefined },
  },
];
