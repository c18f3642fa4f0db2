/** One look at what a profile holds, in a process of its own; what it sees stands in the cache of completion after. */
import { CliError } from '../core/errors.ts';
import type { AppHost } from './app-host.ts';
import { connections } from './connections.ts';

export interface RefreshParts {
  readonly host: AppHost;
  readonly version: string;
  readonly redactions: ((text: string) => string)[];
  readonly keys: Set<string>;
}

/** ms; nobody waits for it any more then. */
const PATIENCE_MS = 5_000;

/** `card --profile team`. Says nothing, asks nothing; what fails is left as it was. */
export async function refreshCompletion(words: readonly string[], looking: RefreshParts): Promise<void> {
  const { readGlobals } = await import('../cli/parsing/globals.ts');
  const { globalsAsTyped } = await import('../cli/parsing/tree.ts');
  const [kind] = words;
  const { host } = looking;
  const enough = new AbortController();
  const over = new AbortController();
  const late = () => enough.abort(new CliError('unreachable', { message: 'the refresh took too long' }));
  host.clock.sleep(PATIENCE_MS, over.signal).then(late, () => undefined);
  const silent = () => undefined;
  const opened = connections({
    ...looking,
    host: Object.defineProperties(
      {},
      {
        ...Object.getOwnPropertyDescriptors(host),
        signal: { value: enough.signal, enumerable: true },
      },
    ) as AppHost,
    globals: { ...readGlobals(globalsAsTyped(words), {}), timeoutMs: PATIENCE_MS },
    notice: silent,
    trace: silent,
  });
  try {
    const service = await opened.service();
    if (kind === 'bin') await service.send('bins.list', {});
    else if (kind === 'webhook') await service.send('webhooks.list', {});
    else for await (const _page of service.pages('cards.list', { per_page: 100 })) break;
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
  } finally {
    over.abort();
    await opened.close();
  }
}
