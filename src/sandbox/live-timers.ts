/** Timers that go off by themselves, for a sandbox that is left running: nobody has to ask for something first. */
import { catchUp, type ServiceParts } from './service.ts';
import { StoreBroken } from './store/faults.ts';

/** Real ms between two looks: timers are set by other processes too, and a scaled clock makes them due any time. */
const LOOK_EVERY = 250;

/**
 * Fires what is due on the clock of the sandbox until `signal` is aborted; the step in hand is finished first. Errors,
 * a busy store too, are told to `onFault` and tried again; a broken store ends it.
 */
export async function runTimersUntil(parts: ServiceParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await catchUp(parts);
    } catch (error) {
      parts.onFault(error);
      if (error instanceof StoreBroken) return;
    }
    await pause(parts, signal);
  }
}

/** A wait that is cut short is no mistake. */
async function pause({ clock }: ServiceParts, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(LOOK_EVERY, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
