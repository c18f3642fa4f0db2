/**
 * Plays scenarios for the inspector: the command that plays a file, in a process of its own that speaks to this server.
 * So a step takes the same road as one of the terminal, journal and all.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CliError } from '../core/errors.ts';
import type { ScenarioPlayer, ScenarioRun, Stage } from '../sandbox/service/service.ts';
import type { StepDone } from '../scenario/run.ts';
import type { AppHost } from './app-host.ts';
import { errorInLastLine, jsonOf, lastLine } from './child-error.ts';

/** Runs that are remembered. */
const MOST_RUNS = 20;
/** Characters of standard error that are read. */
const LONGEST_ERROR = 4_000_000;

type PlayerHost = Pick<AppHost, 'env' | 'program' | 'noise'>;
type PlayedStep = ScenarioRun['steps'][number];

interface Ended extends Pick<ScenarioRun, 'state' | 'says'> {
  /** What was found, and what was expected, of the step that failed. */
  readonly fault?: string | undefined;
}

interface Playing {
  readonly text: string;
  readonly stage: Stage;
  /** Told of each step once it is done. */
  readonly asDone: (step: StepDone) => void;
}

export function scenarioPlayer(host: PlayerHost): ScenarioPlayer {
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
      const steps = await stepsOf(text);
      if (isPlaying) return undefined;
      isPlaying = true;
      const id = `run_${Buffer.from(host.noise.bytes(8)).toString('hex')}`;
      const begun: ScenarioRun = { id, state: 'running', steps, says: null };
      runs.set(id, begun);
      for (const old of [...runs.keys()].slice(0, -MOST_RUNS)) runs.delete(old);
      const told = (next: Partial<ScenarioRun>) => runs.set(id, { ...(runs.get(id) ?? begun), ...next });
      const asDone = (done: StepDone) => told({ steps: withDone(runs.get(id)?.steps ?? begun.steps, done) });
      void played(host, { text, stage, asDone }).then(({ state, says, fault }) => {
        isPlaying = false;
        const { steps: now } = runs.get(id) ?? begun;
        told({ state, says, steps: state === 'failed' ? withFault(now, fault) : now });
      });
      return begun;
    },
    find: id => runs.get(id),
  };
}

/** All steps of a text that was checked, none of them done. */
async function stepsOf(text: string): Promise<readonly PlayedStep[]> {
  const { readYaml } = await import('../terminal/yaml-text.ts');
  const { readScenario } = await import('../scenario/read.ts');
  return readScenario(readYaml(text), 'scenario').steps.map(({ nth: step, line, operation }) => ({
    step,
    line,
    operation: operation.name,
    state: 'waiting',
    outcome: null,
    id: null,
    says: null,
  }));
}

const withDone = (steps: readonly PlayedStep[], { step: nth, outcome, id }: StepDone): readonly PlayedStep[] =>
  steps.map(step => (step.step === nth ? { ...step, state: 'as_expected', outcome, id } : step));

/** The first that was not done is the one that failed; without a fault of a step nobody knows how far it came. */
function withFault(steps: readonly PlayedStep[], fault: string | undefined): readonly PlayedStep[] {
  const failed = fault === undefined ? undefined : steps.find(({ state }) => state === 'waiting');
  return steps.map(step => {
    if (step === failed) return { ...step, state: 'failed', says: fault ?? null };
    return step.state === 'waiting' ? { ...step, state: 'not_done' } : step;
  });
}

/** Never rejects: what went wrong is what it says. */
function played(host: PlayerHost, { text, stage, asDone }: Playing): Promise<Ended> {
  const { origin, key, adminToken } = stage;
  const [node, ...program] = host.program;
  const words = ['sandbox', 'simulate', 'run', '-', '--yes', '-o', 'ndjson'];
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
  let err = '';
  createInterface({ input: child.stdout }).on('line', line => {
    const done = jsonOf(line) as StepDone | undefined;
    if (done !== undefined) asDone(done);
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    if (err.length < LONGEST_ERROR) err += part;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  return new Promise(resolve => {
    child.once('error', error => resolve({ state: 'failed', says: error.message }));
    child.once('close', code => resolve(code === 0 ? { state: 'as_expected', says: null } : failed(err, code)));
  });
}

/** Its folders are those of the server; profiles, keys and dialects of the user are not its own. */
function withoutOurs({ env }: Pick<AppHost, 'env'>): AppHost['env'] {
  const isOurs = (name: string) => name.startsWith('CARDWRIGHT_') && name !== 'CARDWRIGHT_CONFIG_DIR';
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)));
}

function failed(err: string, code: number | null): Ended {
  const told = errorInLastLine(err);
  if (told === undefined) return { state: 'failed', says: `It ended with ${code}. ${lastLine(err)}` };
  const { kind, message, notes = [], faults } = told;
  const fault = kind === 'check_failed' ? faults?.map(({ text }) => text).join('\n') : undefined;
  return { state: 'failed', says: [message, ...notes].join('\n'), fault };
}
