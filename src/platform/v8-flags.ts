/** Flags of V8 that end with the process, so that compiled code is kept under those of a fresh one (src/loader.ts). */
import process from 'node:process';
import type { setFlagsFromString } from 'node:v8';

/** Sets a flag such as `--liftoff-only` for the rest of the process; `usual` sets it back before compiled code is kept. */
export function setFlag(
  v8: { readonly setFlagsFromString: typeof setFlagsFromString },
  flag: string,
  usual: string,
): void {
  v8.setFlagsFromString(flag);
  process.prependOnceListener('exit', () => v8.setFlagsFromString(usual));
}
