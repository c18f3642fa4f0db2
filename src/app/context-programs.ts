/** Programs that a command starts, and card details that it shows or hands to one. */
import { resolve } from 'node:path';
import type { Context } from '../cli/context.ts';
import type { Globals } from '../cli/parsing/globals.ts';
import type { DestinationSettings } from '../cli/reveal-destinations.ts';
import { CliError } from '../core/errors.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';

export type ContextPrograms = Pick<
  Context,
  'reveal' | 'runWithCard' | 'checkRunWithCard' | 'takeSignals' | 'runProgram' | 'openBrowser'
>;

export interface ProgramFacts {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly opened: Connections;
  readonly stdin: Context['stdin'];
  /** Opened when card details are first asked for. */
  readonly gate: () => Promise<DestinationSettings>;
}

export function contextPrograms({ gate, ...facts }: ProgramFacts): ContextPrograms {
  const { host } = facts;
  return {
    async reveal(cardId, options) {
      const { revealCard } = await import('../cli/reveal-destinations.ts');
      return revealCard(await gate(), cardId, options);
    },
    async runWithCard(cardId, options) {
      const { runWithCard } = await import('../cli/reveal-destinations.ts');
      return runWithCard(await gate(), cardId, options);
    },
    async checkRunWithCard(options) {
      const { checkRunWithCard } = await import('../cli/reveal-destinations.ts');
      return checkRunWithCard(await gate(), options);
    },
    async openBrowser(address) {
      const { openBrowser } = await import('./browser.ts');
      return openBrowser(host, address);
    },
    takeSignals: onSignal => host.handOver(onSignal),
    runProgram: (program, variables) => runForAccount(facts, program, { variables, handsKeys: true }),
  };
}

interface Started {
  readonly variables: Readonly<Record<string, string>>;
  /** The program gets the key of the environment too. */
  readonly handsKeys: boolean;
}

/** Runs a program that acts for the account of this run or for none. Resolves to its exit code. */
export async function runForAccount(
  { host, globals, opened, stdin }: Omit<ProgramFacts, 'gate'>,
  program: readonly string[],
  { variables, handsKeys }: Started,
): Promise<number> {
  const { runChild } = await import('../cli/child.ts');
  const { programEnvironment } = await import('../profile/program-environment.ts');
  const { cwd, platform } = host;
  const identity = await opened.identity().catch(thrown => {
    if (thrown instanceof CliError && thrown.kind === 'not_authenticated') return undefined;
    throw thrown;
  });
  const contract = globals.contract === undefined ? undefined : resolve(cwd, globals.contract);
  const env = { ...programEnvironment(host.env, { identity, contract, handsKeys }), ...variables };
  const handOver = (onSignal: (signal: NodeJS.Signals) => void) => host.handOver(onSignal);
  return runChild(program, { env, cwd, platform, handOver, sharesTerminal: stdin.isTerminal });
}
