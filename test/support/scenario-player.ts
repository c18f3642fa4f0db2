/** A player of scenarios that plays none: what it is asked and what it answers is known. */
import type { ScenarioPlayer, ScenarioRun, Stage } from '../../src/sandbox/service/service.ts';

export interface NotingPlayer extends ScenarioPlayer {
  readonly played: { readonly text: string; readonly stage: Stage }[];
}

/** Text that begins with `bad` has one problem; a run has ended as expected at once. */
export function notingPlayer(): NotingPlayer {
  const played: NotingPlayer['played'] = [];
  const run: ScenarioRun = { id: 'run_1', state: 'as_expected', steps: [], says: null };
  return {
    played,
    examples: async () => [{ name: 'one.yaml', text: 'scenario: One' }],
    check: async text =>
      text.startsWith('bad')
        ? { name: null, steps: 0, problems: [{ line: 2, column: 3, text: 'not a step' }] }
        : { name: 'One', steps: 1, problems: [] },
    play: async (text, stage) => {
      played.push({ text, stage });
      return run;
    },
    find: id => (id === run.id ? run : undefined),
  };
}
