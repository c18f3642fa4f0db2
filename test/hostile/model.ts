/**
 * What may be told of a write, by somebody who has not read the client: from what truly happened, which the books of the
 * service know, and from what anybody at the other end of the wire could have seen.
 */
import type { WriteOperation } from '../support/card-books.ts';

/** How an answer reads. */
export type Says =
  /** 2xx that shows the effect. */
  | 'shown'
  /** 2xx in words of failure. */
  | 'no-in-2xx'
  /** 2xx that shows nothing. */
  | 'mute'
  /** 2xx about another card, another amount, another state. */
  | 'other'
  /** Taken, and not done yet. */
  | 'accepted'
  /** No answer, or a part of one. */
  | 'lost'
  /** 3xx, 5xx and what comes from something on the way. */
  | 'broken'
  | 'throttled'
  /** A definite no in the words of the interface. */
  | 'no'
  /** A no in other words, or about the key. */
  | 'odd-no';

/** What the program claims: that it happened, that it did not, or that it cannot know. */
export type Claim = 'done' | 'not done' | 'unknown';

/**
 * Exit codes that promise that nothing happened (docs/design/reliability.md, section 1; docs/design/cli.md,
 * "Exit codes").
 */
const NOTHING_HAPPENED: ReadonlySet<number> = new Set([2, 3, 4, 5, 6, 7, 10, 12, 14]);
/** A bug, codes that tell of several rows, and the mismatch: what they claim stands in the rows and in `outcome`. */
const SAID_OTHERWISE: ReadonlySet<number> = new Set([1, 9, 13, 15]);

/** The claim of one command. `outcome` is that of the JSON error, where there is one. */
export function claimOf(code: number, outcome: string | undefined): Claim {
  if (code === 0) return 'done';
  if (NOTHING_HAPPENED.has(code)) return 'not done';
  if (SAID_OTHERWISE.has(code) && outcome === 'done') return 'done';
  if (SAID_OTHERWISE.has(code) && (outcome === 'refused' || outcome === 'not_sent')) return 'not done';
  return 'unknown';
}

/** The law: what is claimed is so. That it cannot be known may always be said. */
export function isTrue(claim: Claim, happened: boolean): boolean {
  return claim === 'unknown' || happened === (claim === 'done');
}

/** What was seen of one row, told from the side of the service. */
export interface Seen {
  readonly operation: WriteOperation;
  /** How each answer to the requests that really came reads, in order. */
  readonly answers: readonly Says[];
  /** The same key in the same account was proved to be honoured, and is. */
  readonly keyProved: boolean;
  /** The marker of a new card can be read. */
  readonly markerShown: boolean;
  /** A lease uses no card whose mark it cannot see (docs/design/security.md, "Reveal gate"). */
  readonly markerNeeded: boolean;
  /** The card was in the wanted state before anything was sent. */
  readonly wasThere: boolean;
  /** What is read is behind the books, so that a trace need not show. */
  readonly readsLate: boolean;
  readonly happened: boolean;
}

/** Answers after which nobody can say that nothing is on its way any more. */
const OPEN: ReadonlySet<Says> = new Set<Says>(['lost', 'broken', 'accepted', 'no-in-2xx', 'mute', 'other', 'odd-no']);

/**
 * True where a careful observer knows what happened: then "unknown" is no lie, but help nobody needed.
 *
 * - It happened: the last answer shows it and no earlier request is open, or its key proves that both are one; or the
 *   trace shows it: the marker of a card, the state of a card. Of a transfer the trace is a balance, which other causes
 *   move too: it says enough only beside a 2xx that says neither no nor later.
 *   A state that was there before says nothing against words of failure.
 * - It did not happen: every answer is a definite no. After an open one it may still happen. A 429 is no definite no: it may
 *   be told of what is done, so that a card that could not be told from another leaves it open.
 */
export function isKnowable(seen: Seen): boolean {
  const { operation, answers, keyProved, markerShown, markerNeeded, wasThere, readsLate, happened } = seen;
  const last = answers.at(-1);
  if (happened && markerNeeded && !markerShown) return false;
  const earlier = answers.slice(0, -1).some(says => OPEN.has(says));
  if (wasThere && last === 'no-in-2xx') return false;
  const traceless = operation === 'create' && !markerShown;
  if (!happened) return answers.every(says => !OPEN.has(says) && !(says === 'throttled' && traceless));
  // What a reading denies is not believed, whatever was answered.
  if (readsLate) return false;
  if (last === 'shown' && (!earlier || keyProved)) return true;
  if (operation === 'create') return markerShown;
  if (operation !== 'fund' && operation !== 'withdraw') return true;
  return (last === 'mute' || last === 'other') && !earlier;
}
