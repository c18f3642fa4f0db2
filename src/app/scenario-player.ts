/**
 * Plays scenarios for the inspector: the command that plays a file, in a process of its own that speaks to this server.
 * So a step takes the same road as one of the terminal, journal and all.
 */
import { spawn } from 'node:child_process';
import { CliError } from '../core/errors.ts';
import type { ScenarioPlayer, ScenarioRun, Stage } from '../sandbox/service/scenario-player.ts';
import type { AppHost } from './app-host.ts';

/** Runs that are remembered. */
const MOST_RUNS = 20;
/** Characters of each stream that are read. */
const LONGEST_OUTPUT = 4_000_000;

type Ended = Pick<ScenarioRun, 'state' | 'steps' | 'says'>;

export function scenarioPlayer(host: AppHost): ScenarioPlayer {
  const runs = new Map<string, ScenarioRun>();
  let isPlaying = false;
  return {
    async examples() {
      const { EXAMPLES } = await import('../scenario/examples.ts');
      return Object.entries(EXAMPLES).map(([name, text]) => ({ name, text }));
    },
    async check(text) {
      const { readYaml } = await import('../terminal/yaml-text.ts');
      const { readScenario } = await import('../scenario/read.ts');
      try {
        const { name, steps } = readScenario(readYaml(text), 'scenario');
        return { name, steps: steps.length, problems: [] };
      } catch (error) {
        if (!(error instanceof CliError) || error.kind !== 'usage') throw error;
        const { faults = [], message } = { ...error.facts, message: error.message };
        const problems = faults.map(({ line, column, text: said }) => ({ line, column, text: said }));
        return {
          name: null,
          steps: 0,
          problems: problems.length > 0 ? problems : [{ line: 1, column: 1, text: message }],
        };
      }
    },
    async play(text, stage) {
      if (isPlaying) return undefined;
      isPlaying = true;
      const id = `run_${Buffer.from(host.noise.bytes(8)).toString('hex')}`;
      const begun: ScenarioRun = { id, state: 'running', steps: [], says: null };
      runs.set(id, begun);
      for (const old of [...runs.keys()].slice(0, -MOST_RUNS)) runs.delete(old);
      void played(host, text, stage).then(ended => {
        isPlaying = false;
        runs.set(id, { id, ...ended });
      });
      return begun;
    },
    find: id => runs.get(id),
  };
}

/** Never rejects: what went wrong is what it says. */
function played(host: AppHost, text: string, { origin, key, adminToken }: Stage): Promise<Ended> {
  const [node, ...program] = host.program;
  const words = ['sandbox', 'simulate', 'run', '-', '--yes', '--json'];
  const child = spawn(node, [...program, ...words], {
    env: {
      ...withoutOurs(host),
      CARDWRIGHT_BASE_URL: `${origin}/v1`,
      CARDWRIGHT_API_KEY: key.expose(),
      CARDWRIGHT_SANDBOX_URL: origin,
      CARDWRIGHT_SANDBOX_TOKEN: adminToken.expose(),
      CARDWRIGHT_TEST_ONLY: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const read = { out: '', err: '' };
  const take = (name: 'out' | 'err') => (part: Buffer) => {
    if (read[name].length < LONGEST_OUTPUT) read[name] += part.toString('utf8');
  };
  child.stdout.on('data', take('out'));
  child.stderr.on('data', take('err'));
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  return new Promise(resolve => {
    child.once('error', error => resolve({ state: 'failed', steps: [], says: error.message }));
    child.once('close', code => resolve(code === 0 ? asExpected(read.out) : failed(read.err, code)));
  });
}

/** Its folders are those of the server; profiles, keys and dialects of the user are not its own. */
function withoutOurs({ env }: AppHost): AppHost['env'] {
  const isOurs = (name: string) => name.startsWith('CARDWRIGHT_') && name !== 'CARDWRIGHT_CONFIG_DIR';
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)));
}

function asExpected(out: string): Ended {
  const { data } = JSON.parse(out) as { readonly data: ScenarioRun['steps'] };
  return { state: 'as_expected', steps: data, says: null };
}

/** The error is its last line. */
function failed(err: string, code: number | null): Ended {
  const last = err.trimEnd().split('\n').at(-1) ?? '';
  const told = /^\{"error":\{/.test(last) ? (JSON.parse(last) as { error: Told }).error : undefined;
  const says = told === undefined ? `It ended with ${code}. ${last}` : [told.message, ...(told.notes ?? [])].join('\n');
  return { state: 'failed', steps: [], says };
}

interface Told {
  readonly message: string;
  readonly notes?: readonly string[];
}
