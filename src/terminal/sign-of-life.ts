/**
 * What a person sees while no answer comes: one line on the terminal, taken away when it is there. A pause that the
 * service asks for is said in a log as well, so that a script that stands still says why.
 */
import { SECOND } from '../core/durations.ts';
import type { Clock } from '../platform/host.ts';
import type { Progress, ProgressMode } from './progress.ts';

/** A request without an answer for this long is spoken of. */
export const FIRST_SIGN_MS = 150;
/** A line that cannot be taken away again is worth it later only: a screen reader would read it at every command. */
const FIRST_LASTING_SIGN_MS = 2_500;
/** What is waited for beside the service is spoken of later: most of it is there before it is read. */
export const LONG_WAIT_MS = 2_000;
/** Lines that stay are this far apart at least. */
const LASTING_MS = 10_000;

/** Why nothing is sent for a while: what the service said, or the pace that this machine keeps by itself. */
export type Pause = 'throttled' | 'in_progress' | 'network' | { readonly perMinute: number };

export interface SignOfLife {
  /** A request to `whom` leaves; call the result when its answer is there, or will not come. */
  asked(whom: string): () => void;
  /**
   * Something else than the service is waited for, by the name of `whom`, for `mostMs()` in all; call the result when that is over.
   */
  awaited(whom: string, mostMs: () => number): () => void;
  /** Nothing is sent for so long, for the service has no time or is given a rest; `attempt` comes after it, 2 or more. */
  told(whom: string, ms: number, why: Pause, attempt?: number): void;
  /** Nothing more is said. */
  end(): void;
}

export interface SignSettings {
  readonly mode: ProgressMode;
  /** False where nobody looks: requests are not spoken of, pauses are. */
  readonly watched: boolean;
  /** The same for what is waited for beside the service: no program reads the answer, on the screen or elsewhere. */
  readonly forPeople: boolean;
  readonly progress: Pick<Progress, 'say' | 'status' | 'reports'>;
  readonly clock: Clock;
}

export function createSignOfLife({ mode, watched, forPeople, progress, clock }: SignSettings): SignOfLife {
  let open = 0;
  let showing: AbortController | undefined;
  let saidUntil = Number.NEGATIVE_INFINITY;

  /** Shows what `line` says, from `after` ms on, anew each second, until something else is the case. */
  function show(after: number, line: (ms: number) => string): void {
    stop();
    const until = new AbortController();
    const begun = clock.monotonic();
    showing = until;
    const go = async () => {
      for (let pause = after; ; pause = SECOND - ((clock.monotonic() - begun) % SECOND)) {
        if (pause > 0) await clock.sleep(pause, until.signal);
        if (until.signal.aborted) return;
        const text = line(clock.monotonic() - begun);
        if (mode !== 'redraw') return progress.say(text);
        progress.status(text);
      }
    };
    void go().catch(() => undefined);
  }

  function stop(): void {
    showing?.abort();
    showing = undefined;
    progress.status(undefined);
  }

  return {
    asked(whom) {
      open += 1;
      if (watched && open === 1) show(mode === 'redraw' ? FIRST_SIGN_MS : FIRST_LASTING_SIGN_MS, waiting(whom));
      return () => {
        open -= 1;
        if (open === 0) stop();
      };
    },
    awaited(whom, mostMs) {
      if (!forPeople || mode === 'none') return () => undefined;
      const over = new AbortController();
      const begun = clock.monotonic();
      let own: AbortController | undefined;
      const seconds = (ms: number) => Math.round(ms / SECOND);
      const line = () => `waiting for ${whom}: ${seconds(clock.monotonic() - begun)} s, at most ${seconds(mostMs())}`;
      const speak = async () => {
        await clock.sleep(LONG_WAIT_MS, over.signal);
        if (over.signal.aborted) return;
        show(0, line);
        own = showing;
      };
      void speak().catch(() => undefined);
      return () => {
        over.abort();
        // A request that is spoken of by now goes on.
        if (own !== undefined && own === showing) stop();
      };
    },
    told(whom, ms, why, attempt = 2) {
      const now = clock.monotonic();
      // Many workers are told the same; a pause shorter than a second is over before it is read.
      if (ms < SECOND || mode === 'none' || now < saidUntil) return;
      const line = asksToWait(whom, ms, { why, attempt });
      if (mode === 'redraw' && watched && !progress.reports) return show(0, line);
      saidUntil = now + Math.max(ms, LASTING_MS);
      progress.say(line(0));
    },
    end: stop,
  };
}

function waiting(whom: string) {
  return (ms: number) => {
    const seconds = Math.floor(ms / SECOND);
    return seconds === 0 ? `waiting for ${whom}` : `waiting for ${whom}  ${seconds} s`;
  };
}

const SAYS = { throttled: 'has too many requests (429)', in_progress: 'is still at it', network: 'has no answer' };

function asksToWait(whom: string, whole: number, { why, attempt }: { readonly why: Pause; readonly attempt: number }) {
  const says = typeof why === 'string' ? SAYS[why] : `is asked ${why.perMinute} times a minute at most`;
  // The first time says as much without its number.
  const which = attempt > 2 ? `, attempt ${attempt}` : '';
  return (ms: number) => `${whom} ${says}: asked again in ${Math.max(1, Math.ceil((whole - ms) / SECOND))} s${which}`;
}
