/** The program before a service that follows a script: with a test key, or in the place of the sandbox. */
import { join } from 'node:path';
import { SCRIPTED_KEY, type ScriptedService, scriptedService } from './scripted-service.ts';
import { type World, world } from './world.ts';

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The error of the JSON line; empty when there is none. */
  readonly error: Readonly<Record<string, unknown>>;
}

export interface ScriptedWorld extends AsyncDisposable {
  readonly service: ScriptedService;
  readonly here: World;
  /** Runs a line with `--json`; pauses between two looks pass at once. */
  run(line: string): Promise<Told>;
}

/** `keys: 'honoured'` is the sandbox's: its keys are known to be honoured, and nothing need settle. */
export async function scriptedWorld({
  keys = 'unknown',
}: {
  keys?: 'unknown' | 'honoured';
} = {}): Promise<ScriptedWorld> {
  const { service, here } = await (keys === 'unknown' ? withTestKey() : asSandbox());
  return {
    service,
    here,
    async run(line) {
      // What stands after `--` belongs to a program.
      const [own = '', ...program] = line.split(' -- ');
      const { code, out, err } = await here.run([`${own} --json`, ...program].join(' -- '), {
        onPause: () => undefined,
      });
      const last = err.trim().split('\n').at(-1) ?? '';
      return { code, out, err, error: last.startsWith('{"error"') ? JSON.parse(last).error : {} };
    },
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

async function withTestKey() {
  const service = await scriptedService();
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_BASE_URL: service.baseUrl,
    CARDWRIGHT_API_KEY: SCRIPTED_KEY,
  };
  return { service, here: await world({ env }) };
}

async function asSandbox() {
  let service: ScriptedService | undefined;
  const here = await world({
    async between(_, folder) {
      const socketPath = join(folder, 'scripted.sock');
      service = await scriptedService(socketPath);
      return { socketPath, close: async () => undefined };
    },
  });
  if (service === undefined) throw new Error('the service was not started');
  return { service, here };
}
