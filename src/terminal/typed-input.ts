/** Standard input that may be a person's: who types is told once that the program reads, and how a text ends. */
import type { InputStream } from '../platform/host.ts';

/** The same input; `tell` gets one sentence before the first read of a terminal, and none for a pipe or a file. */
export function typedInput(stdin: InputStream, tell: (text: string) => void): InputStream {
  let noticed = !stdin.isTerminal;
  const reading = () => {
    if (!noticed) tell('Reading from the terminal; Ctrl-D ends it.');
    noticed = true;
  };
  return {
    get isTerminal() {
      return stdin.isTerminal;
    },
    async readAll(maxBytes) {
      reading();
      return stdin.readAll(maxBytes);
    },
    async readBytes(maxBytes) {
      reading();
      return stdin.readBytes(maxBytes);
    },
  };
}
