/** Single keys from a real terminal, for the reveal screen. */
import type { KeySource } from './reveal-screen.ts';

/** The part of a terminal's input stream that is used; `process.stdin` fits. */
interface RawInput {
  setRawMode(raw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
}

/**
 * Opens raw mode at once. Each chunk of input is one key: an arrow is a chunk of several bytes, and any of them
 * hides the screen, so the bytes need no further reading. Keys nobody waits for are kept in order.
 */
export function openTerminalKeys(input: RawInput) {
  const pressed: string[] = [];
  let deliver: ((key: string | undefined) => void) | undefined;
  /** Acts as if this key had been pressed. */
  const press = (key: string) => {
    pressed.push(key);
    deliver?.(pressed.shift());
  };
  const onData = (chunk: Buffer | string) => press(String(chunk));
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();

  const next: KeySource['next'] = signal =>
    new Promise(resolve => {
      const settle = (key: string | undefined) => {
        deliver = undefined;
        signal.removeEventListener('abort', onAbort);
        resolve(key);
      };
      const onAbort = () => settle(undefined);
      if (signal.aborted || pressed.length > 0) return resolve(pressed.shift());
      signal.addEventListener('abort', onAbort);
      deliver = settle;
    });

  /** Gives the terminal back to line mode. Call it in `finally`. */
  const close = () => {
    input.off('data', onData);
    input.pause();
    input.setRawMode(false);
    deliver?.(undefined);
  };
  return { next, press, close };
}
