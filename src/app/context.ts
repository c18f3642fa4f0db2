/** What a command's context can do, put together by concern. Costly things are opened once, when first asked for. */

import type { Context } from '../cli/context.ts';
import type { OpenContext } from '../cli/run.ts';
import type { ReadName } from '../contract/calls.ts';
import type { Reader, ReadOptions, Service } from '../contract/service.ts';
import { asCliError } from '../core/errors.ts';
import { sameCommandWith, withTypedWords } from '../core/same-command.ts';
import { type Connections, connections, once } from './connections.ts';
import { contextFiles } from './context-files.ts';
import { contextPrograms } from './context-programs.ts';
import { contextSandbox } from './context-sandbox.ts';
import { contextWrites } from './context-writes.ts';
import { runLimits } from './limits.ts';
import type { Opening } from './opening.ts';
import { sandboxServersFor } from './sandbox-server.ts';
import { openTerminal, type RunTerminal } from './terminal.ts';

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening): OpenContext {
  const { host, version } = opening;
  const terminal = openTerminal(opening);
  const { stdin, prompts, progress, notice, warn, canAsk, life } = terminal;
  const opened = openConnections(opening, terminal);
  const inputs = { host, stdin, notice };
  const reader = once(async () => readerOf(await opened.service(), opened.noteShown));
  const limits = runLimits(host, opened);
  const writes = contextWrites(opening, { opened, terminal, reader, limits });
  const { journal, audit } = writes.context;
  const servers = sandboxServersFor({ ...opened, host, version, notice, keys: opening.keys });
  const context: Context = {
    ...runFacts(opening),
    version,
    stdin,
    prompts,
    progress,
    notice,
    canAsk,
    maskInLog: terminal.maskInLog,
    ...times(opened, opening, reader),
    identity: opened.identity,
    limits: limits.shown,
    overrides: opened.overrides,
    reader,
    read: async (operation, input, options) => (await reader()).read(operation, input, options),
    ...writes.context,
    async write(operation, input, ...more) {
      const made = await writes.context.write(operation, input, ...more);
      opened.noteShown(operation, input as Values, made.result);
      return made;
    },
    ...contextFiles(host, inputs, warn),
    ...contextPrograms({ host, globals: opening.globals, opened, stdin, gate: writes.gate }),
    ...contextSandbox(host, opened, inputs),
    servers,
    profiles: once(async () => {
      const { profilesFor } = await import('./profiles.ts');
      return profilesFor(host, notice);
    }),
    mirror: once(async () => {
      const { mirrorFor } = await import('./mirror.ts');
      return mirrorFor({ host, opened, reader, journal, progress, life, warn });
    }),
    async diagnose() {
      const { doctorFor } = await import('./doctor.ts');
      const leftRuns = async () => {
        const { profile } = await opened.identity();
        const left = (await (await journal()).list()).filter(({ state }) => state === 'unknown' || state === 'open');
        return left
          .filter(op => op.profile === profile && op.counts.unknown + op.counts.open > 0)
          .map(({ op, counts }) => ({ op, unknown: counts.unknown, open: counts.open }));
      };
      return doctorFor({ host, opened, version, audit, limits: limits.shown, leftRuns });
    },
  };
  return {
    context,
    async close(answer) {
      life.end();
      // What is left undone here is looked at by the next command; the answer stands.
      for (const work of writes.afterAnswer)
        await work(answer).catch((thrown: unknown) => warn((thrown as Error).message));
      await progress.written();
      await opened.close();
      await servers.close();
    },
  };
}

/** What options and the process say; nothing of it is opened. */
function runFacts({ host, globals, rest }: Opening) {
  return {
    clock: host.clock,
    random: host.random,
    env: host.env,
    signal: host.signal,
    dryRun: globals.dryRun,
    yes: globals.yes,
    forPeople: host.streams.stdout.isTerminal && !globals.machine && !globals.quiet,
    csvRaw: globals.csvRaw,
    sorted: globals.sort !== undefined,
    requestTimeoutMs: globals.timeoutMs,
    profileName: globals.profile,
    rest,
  };
}

/** Connections that say how long they wait, and that the mirror would answer at once where the service is busy. */
function openConnections(opening: Opening, { notice, trace, life, watched }: RunTerminal): Connections {
  const { host } = opening;
  const suggestMirror = once(async () => {
    const { isMirrored } = await import('../mirror/file.ts');
    const { profile } = await opened.identity();
    if (isMirrored(host.folders.data, profile))
      notice(withTypedWords(`The mirror of this account answers at once: ${sameCommandWith('--offline')}`, host.argv));
  });
  const canSuggest = opening.couldBeOffline && watched;
  const onThrottled = canSuggest ? () => void suggestMirror().catch(() => undefined) : undefined;
  const opened = connections({ ...opening, notice, trace, life, onThrottled });
  return opened;
}

/** The time of the service, as its answers tell it; ours until there is one. ms UTC. */
function times(opened: Connections, { host }: Opening, reader: () => Promise<Reader>) {
  const serviceNow = () => opened.serviceNow() ?? host.clock.now();
  return {
    serviceNow,
    async askServiceTime() {
      if (opened.serviceNow() === undefined) await (await reader()).read('wallet.get', {}).catch(ignoreAnswer);
      return serviceNow();
    },
  };
}

/** Reading operations alone, the bare results. */
type Values = Readonly<Record<string, unknown>>;

function readerOf(service: Service, noteShown: Connections['noteShown']): Reader {
  async function* noted<Page>(pages: AsyncIterable<Page>, operation: string, input: Values) {
    for await (const page of pages) {
      noteShown(operation, input, page);
      yield page;
    }
  }
  return {
    read: async <N extends ReadName>(operation: N, input: Parameters<Reader['read']>[1], options?: ReadOptions) => {
      const { result } = await service.send(operation, input as never, options);
      noteShown(operation, input as Values, result);
      return result as never;
    },
    pages: (operation, input, options) => noted(service.pages(operation, input, options), operation, input as Values),
  };
}

/** Any answer tells the time. Throws what kept it from coming. */
function ignoreAnswer(thrown: unknown): void {
  const { kind } = asCliError(thrown);
  if (kind !== 'refused' && kind !== 'not_found' && kind !== 'contract_mismatch') throw thrown;
}
