/**
 * Puts the rooms together. Takes everything from the host, so tests run it whole; what a command's context needs is
 * loaded when the first command asks for it.
 */
import type { AppHost } from './app/process-host.ts';
import { type Machine, run } from './cli/run.ts';
import { REGISTRY } from './commands/registry.ts';
import { replaced } from './core/objects.ts';
import { holdsNone, SECRET_VARIABLES, withoutPatterns, withoutSecrets } from './core/redaction.ts';
import type { OutputStream } from './platform/host.ts';
import { mayHoldCommands, readsCommands, withoutCommands } from './terminal/ci-commands.ts';

/** The program, ready to run once. */
export function compose(around: AppHost, version: string): Machine {
  const redactions: ((text: string) => string)[] = [];
  const beforeOutput = new Set<() => void>();
  const keys = new Set(SECRET_VARIABLES.map(name => around.env[name] ?? ''));
  const redact = (text: string) =>
    redactions.reduce((clean, more) => more(clean), withoutPatterns(withoutSecrets(text, keys)));
  const isRead = readsCommands(around.env);
  const inert = isRead ? withoutCommands : (text: string) => text;
  const { stdin, stdout, stderr } = around.streams;
  // What people read loses everything that is or looks like a secret; the answer itself loses the keys of this run alone, for a card
  // number or a code stands there only because it was asked for by name.
  const host = replaced(around, 'streams', {
    stdin,
    stdout: cleanStream(
      stdout,
      text => inert(withoutSecrets(text, keys)),
      bytes => holdsNone(bytes, keys) && !(isRead && mayHoldCommands(bytes)),
      beforeOutput,
    ),
    stderr: cleanStream(stderr, text => inert(redact(text))),
  });
  return {
    host,
    version,
    registry: REGISTRY,
    redact,
    async openContext(globals, rest, isUrgent = false) {
      const { openContext } = await import('./app/context.ts');
      const again = (other: AppHost) => run(compose(other, version));
      return openContext({ host, version, globals, rest, isUrgent, redactions, keys, beforeOutput, again });
    },
  };
}

/** `beforeOutput` makes room on a terminal for the answer. */
function cleanStream(
  stream: OutputStream,
  clean: (text: string) => string,
  isCleanAlready?: (bytes: Uint8Array) => boolean,
  beforeOutput: Iterable<() => void> = [],
): OutputStream {
  return replaced(stream, 'write', (given: string | Uint8Array) => {
    for (const makeRoom of beforeOutput) makeRoom();
    if (typeof given === 'string') return stream.write(clean(given));
    return stream.write(isCleanAlready?.(given) ? given : clean(new TextDecoder().decode(given)));
  });
}
