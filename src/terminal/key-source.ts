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

interface TerminalKeys extends KeySource {
  /** Acts as if this key had been pressed. */
  press(key: string): void;
  /** Gives the terminal back to line mode. Call it in `finally`. */
  close(): void;
}

/**
 * Opens raw mode at once. Each chunk of input is one key: an arrow is a chunk of several bytes, and any of them
 * hides the screen, so the bytes need no further reading. Keys nobody waits for are kept in order.
 */
export function openTerminalKeys(input: RawInput): TerminalKeys {
  const pressed: string[] = [];
  let deliver: ((key: string | undefined) => void) | undefined;
  const press = (key: string) => {
    pressed.push(key);
    deliver?.(pressed.shift());
  };
  const onData = (chunk: Buffer | string) => press(String(chunk));
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();

  const next = (signal: AbortSignal) =>
    new Promise<string | undefined>(resolve => {
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

  const close = () => {
    input.off('data', onData);
    input.pause();
    input.setRawMode(false);
    deliver?.(undefined);
  };
  return { next, press, close };
}
