/**
 * How many rows are on the wire. A row is written down before it takes a slot and after it has left it, so that the
 * record of a row that came back and those of the next ones share a sync, and a slot that falls free is taken at once.
 */
import type { Flight } from '../journal/types.ts';

export interface Slots {
  /** Whether one more row may be begun. */
  hasRoom(): boolean;
  /** Rows on the wire now. */
  flying(): number;
  begin(): Slot;
  /** From now on no row leaves, the waiting ones neither. */
  close(): void;
}

export interface Slot extends Flight {
  /** True when it was not allowed to leave. */
  grounded(): boolean;
  /** The row has come to its outcome, wherever it was. */
  end(): void;
}

export interface SlotLimits {
  /** Most rows on the wire. */
  readonly workers: () => number;
  /** Rows that may be written down beside them; a crash leaves them in doubt, so they are few. */
  readonly ahead: () => number;
  /** A slot fell free, and no row was waiting for it. */
  readonly onFree: () => void;
}

export function createSlots({ workers, ahead, onFree }: SlotLimits): Slots {
  let [preparing, flying, closed] = [0, 0, false];
  const waiting: ((may: boolean) => void)[] = [];

  function leave(): void {
    preparing -= 1;
    flying += 1;
  }

  function freed(): void {
    while (flying < workers()) {
      const next = waiting.shift();
      if (next === undefined) break;
      next(true);
    }
    onFree();
  }

  function begin(): Slot {
    let stage: 'preparing' | 'flying' | 'over' = 'preparing';
    let grounded = false;
    const answer = (may: boolean): boolean => {
      if (stage !== 'preparing') return false;
      if (may) {
        leave();
        stage = 'flying';
      } else grounded = true;
      return may;
    };
    preparing += 1;
    return {
      grounded: () => grounded,
      takeOff() {
        // A row may ask again, when it is sent a second time.
        if (stage !== 'preparing') return true;
        if (closed) return answer(false);
        if (waiting.length === 0 && flying < workers()) return answer(true);
        return new Promise(resolve => waiting.push(may => resolve(answer(may))));
      },
      landed() {
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
    hasRoom: () => !closed && preparing + flying < workers() + ahead(),
    flying: () => flying,
    begin,
    close() {
      closed = true;
      for (const each of waiting.splice(0)) each(false);
    },
  };
}
