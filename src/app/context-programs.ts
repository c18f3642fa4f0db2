/** Programs that a command starts, and card details that it shows or hands to one. */
import type { Context } from '../cli/context.ts';
import type { DestinationSettings } from '../cli/reveal-destinations.ts';
import type { AppHost } from './app-host.ts';

export type ContextPrograms = Pick<
  Context,
  'reveal' | 'runWithCard' | 'checkRunWithCard' | 'takeSignals' | 'runProgram' | 'openBrowser'
>;

/** `gate` is opened when card details are first asked for. */
export function contextPrograms(
  host: AppHost,
  stdin: Context['stdin'],
  gate: () => Promise<DestinationSettings>,
): ContextPrograms {
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
    async runProgram(program, variables) {
      const { runChild } = await import('../cli/child.ts');
      const { env, cwd, platform } = host;
      const handOver = (onSignal: (signal: NodeJS.Signals) => void) => host.handOver(onSignal);
      return runChild(program, { env, cwd, platform, variables, handOver, sharesTerminal: stdin.isTerminal });
    },
  };
}
