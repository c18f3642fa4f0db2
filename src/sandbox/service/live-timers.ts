/** Timers that go off by themselves, for a sandbox that is left running: nobody has to ask for something first. */

import { StoreBroken, StoreBusy } from '../store/sql.ts';
import { catchUp, type ServiceParts } from './service.ts';

/** Real ms between two looks: timers are set by other processes too, and a scaled clock makes them due any time. */
const LOOK_EVERY = 250;

/**
 * Fires what is due on the clock of the sandbox until `signal` is aborted; the step in hand is finished first. Errors
 * are told to `onFault` and tried again, a store that stays busy once; a broken store ends it.
 */
export async function runTimersUntil(parts: ServiceParts, signal: AbortSignal): Promise<void> {
  let wasBusy = false;
  while (!signal.aborted) {
    try {
      await catchUp(parts);
      wasBusy = false;
    } catch (error) {
      const isBusy = error instanceof StoreBusy;
      // Another process may fill the store for minutes.
      if (!(isBusy && wasBusy)) parts.onFault(error);
      wasBusy = isBusy;
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
