/** The program before a service that follows a script: with a test key. */
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

export async function scriptedWorld(): Promise<ScriptedWorld> {
  const service = await scriptedService();
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_BASE_URL: service.baseUrl,
    CARDWRIGHT_API_KEY: SCRIPTED_KEY,
  };
  const here = await world({ env });
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
