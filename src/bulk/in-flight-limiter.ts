/**
 * How many rows are on the wire. A row is written down before it takes a slot and after it has left it, so that the
 * record of a row that came back and those of the next ones share a sync, and a slot that falls free is taken at once.
 */
import type { SendPermit } from '../journal/types.ts';

export interface InFlightLimiter {
  /** Whether one more row may be begun. */
  hasRoom(): boolean;
  /** Rows on the wire now. */
  flying(): number;
  begin(): InFlightRow;
  /** From now on no row leaves, the waiting ones neither. */
  close(): void;
}

export interface InFlightRow extends SendPermit {
  /** True when it was not allowed to leave. */
  withheld(): boolean;
  /** The row has come to its outcome, wherever it was. */
  end(): void;
}

export interface InFlightLimits {
  /** Most rows on the wire. */
  readonly workers: () => number;
  /** Most rows that may be written down beside them. A crash leaves them in doubt, so there are as few as will do. */
  readonly ahead: () => number;
  /** A slot fell free, and no row was waiting for it. */
  readonly onFree: () => void;
}

export function createInFlightLimiter({ workers, ahead, onFree }: InFlightLimits): InFlightLimiter {
  let [preparing, flying, closed] = [0, 0, false];
  const waiting: ((may: boolean) => void)[] = [];
  const reserve = createReserve(ahead);

  function leave(): void {
    preparing -= 1;
    flying += 1;
  }

  function freed(): void {
    while (flying < workers()) {
      const next = waiting.shift();
      if (next === undefined) {
        if (preparing > 0) reserve.lacking();
        break;
      }
      next(true);
    }
    reserve.left(waiting.length);
    onFree();
  }

  function begin(): InFlightRow {
    let stage: 'preparing' | 'flying' | 'over' = 'preparing';
    let withheld = false;
    const answer = (may: boolean): boolean => {
      if (stage !== 'preparing') return false;
      if (may) {
        leave();
        stage = 'flying';
      } else withheld = true;
      return may;
    };
    preparing += 1;
    return {
      withheld: () => withheld,
      acquire() {
        // A row may ask again, when it is sent a second time.
        if (stage !== 'preparing') return true;
        if (closed) return answer(false);
        if (waiting.length === 0 && flying < workers()) return answer(true);
        return new Promise(resolve => waiting.push(may => resolve(answer(may))));
      },
      acknowledge() {
        if (stage !== 'flying') return;
        stage = 'over';
        flying -= 1;
        freed();
      },
      end() {
        if (stage === 'preparing') preparing -= 1;
        else if (stage === 'flying') flying -= 1;
        stage = 'over';
        freed();
      },
    };
  }

  return {
    hasRoom: () => !closed && preparing + flying < workers() + reserve.size(),
    flying: () => flying,
    begin,
    close() {
      closed = true;
      for (const each of waiting.splice(0)) each(false);
    },
  };
}

/** Part of the most that is there from the beginning. */
const FIRST_PART = 8;
/** Slots that fell free until a reserve that was not used up is made smaller. */
const CALM_SLOTS = 512;

/**
 * How many rows are written down ahead. Rows that leave together come back together, and all their slots then wait for
 * one sync, unless as many rows are durable already: one more for every slot that stood empty, fewer after a calm while.
 */
function createReserve(most: () => number) {
  let [wanted, spare, seen] = [0, Number.POSITIVE_INFINITY, 0];
  const size = () => Math.min(most(), Math.max(wanted, Math.ceil(most() / FIRST_PART)));
  return {
    size,
    lacking(): void {
      wanted = Math.min(most(), size() + 1);
    },
    /** Rows that still wait after a slot fell free. */
    left(count: number): void {
      spare = Math.min(spare, count);
      seen += 1;
      if (seen < CALM_SLOTS) return;
      wanted = Math.max(0, size() - spare);
      [spare, seen] = [Number.POSITIVE_INFINITY, 0];
    },
  };
}
