/** The machine of `cli/` over the real registry, without anything behind it: what needs a service fails loudly. */

import { completionValues, type ValueProvider } from '../../src/app/completion.ts';
import type { AppHost } from '../../src/app/process-host.ts';

import type { Context } from '../../src/cli/context.ts';
import { type Machine, run } from '../../src/cli/run.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { foldersFor } from '../../src/platform/folders.ts';
import type { Environment } from '../../src/platform/host.ts';
import { type MemoryStreamsOptions, memoryStreams } from '../support/streams.ts';

export const NOW = Date.parse('2026-11-20T14:03:11Z');

/** What completion knows without a file of this machine. */
export const contractValues: ValueProvider = async wanted =>
  wanted.names === 'event' ? completionValues({} as AppHost, wanted) : [];

interface LineOptions extends MemoryStreamsOptions {
  readonly env?: Environment;
}

/** Runs words as the process would get them. */
export async function runWords(argv: readonly string[], options: LineOptions = {}) {
  const streams = memoryStreams(options);
  const host = {
    argv,
    env: options.env ?? {},
    streams,
    cwd: '/nowhere',
    folders: foldersFor({ env: {}, platform: 'linux', home: '/nowhere', temporary: '/nowhere' }),
    clock: { now: () => NOW, monotonic: () => 0, sleep: async () => undefined },
  } as unknown as AppHost;
  const machine: Machine = {
    host,
    version: '9.8.7',
    registry: REGISTRY,
    openContext: async () => ({ context: { ui: {} } as Context, close: async () => undefined }),
    redact: text => text,
  };
  const code = await run(machine);
  return { code, out: streams.out, err: streams.err };
}
