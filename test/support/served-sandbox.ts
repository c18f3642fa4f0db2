/** `sandbox start` of a world, in this process, until it is stopped like by a Ctrl-C. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ServerRow } from '../../src/cli/context.ts';
import type { Environment } from '../../src/platform/host.ts';
import type { Ran, World } from './world.ts';

export interface ServedSandbox extends AsyncDisposable {
  readonly row: ServerRow;
  /** With it the sandbox's own commands steer this server. */
  readonly env: Environment;
  /** How the command ended. */
  readonly ended: Promise<Ran>;
  stop(): Promise<Ran>;
}

/** Resolves once it says that it serves; `line` asks for JSON. */
export async function served(
  place: World,
  line: string,
  env: Environment = {},
  programFolders: readonly string[] = [],
): Promise<ServedSandbox> {
  const stopping = new AbortController();
  let tell: (row: ServerRow) => void = () => undefined;
  const said = new Promise<ServerRow>(resolve => {
    tell = resolve;
  });
  const onOut = (text: string) => tell(JSON.parse(text) as ServerRow);
  const ended = place.run(line, { env, programFolders, signal: stopping.signal, onOut });
  const early = ended.then(({ err }) => Promise.reject(new Error(`it ended: ${err}`)));
  const row = await Promise.race([said, early]);
  early.catch(() => undefined);
  const stop = () => {
    stopping.abort(new Error('stop'));
    return ended;
  };
  const token = await readFile(join(dirname(row.store), 'admin-token'), 'utf8');
  const { origin } = new URL(row.url);
  return {
    row,
    env: { CARDWRIGHT_SANDBOX_URL: origin, CARDWRIGHT_SANDBOX_TOKEN: token.trim() },
    ended,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
