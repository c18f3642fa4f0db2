/** Playing a scenario file. */

import type { Context } from '../../cli/context.ts';
import { argument, local, orNull, tells } from '../../cli/parsing/flag.ts';
import type { ReadName, WriteName } from '../../contract/calls.ts';
import { notSent, undefinedOn } from '../../core/errors.ts';
import { sameCommandWith } from '../../core/shell-quote.ts';
import type { ExecuteStep, Scenario, Step, StepDone } from '../../scenario/scenario.ts';
import type { Listing, Row } from '../../terminal/view.ts';
import { command } from './admin.ts';

export const runSandboxScenario = command({
  path: 'sandbox simulate run',
  summary: 'Run a scenario file: steps and expected results',
  effect: 'reversible',
  effectSays: 'changes the sandbox, as its steps do',
  reach: 'service',
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    check_failed: 'An expectation of the story does not hold.',
  },
  answers: {
    list: {
      step: tells.count('Number of the step, from 1.'),
      line: tells.count('Line of the file.'),
      operation: tells.text('What was done.'),
      outcome: tells.text('ok, or the identifier it was refused with, as expected.'),
      id: orNull(tells.text('What was made or changed.')),
    },
  },
  about:
    'The whole file is checked before the first step. If it has errors, each is shown with line and column, and nothing is sent. The first step with another result than expected ends the run with 15. TSV, CSV and NDJSON show each step as soon as it is done. The format: cardwright help scenarios.',
  args: { file: argument(local('file', 'Scenario in YAML; - for standard input.')) },
  examples: { 'A story and its checks': 'sandbox simulate run purchase.yaml --yes' },
  async run(ctx, { file }) {
    const { readScenario, runScenario } = await import('../../scenario/scenario.ts');
    const name = ctx.files.nameOf(file);
    const scenario = readScenario(await ctx.files.readFile(file), name);
    const perform = await stepPerformer(ctx, scenario.steps);
    if (scenario.steps.some(({ operation }) => operation.name === 'reset')) {
      await ctx.ui.confirmed(`Replace everything in ${await ctx.sandbox.named()}, as the scenario does`);
    }
    return asTheyAreDone(ctx, scenario, runScenario(scenario, { file: name, execute: perform }));
  },
  columns: ['step line:3 operation outcome:2 id:2', { outcome: { kind: 'word' } }],
  noun: 'step',
  idField: 'step',
});

/** The story is told to its end, also where nobody reads it any more. */
function asTheyAreDone(ctx: Context, { name }: Scenario, steps: AsyncGenerator<StepDone, void>): Listing {
  let total = 0;
  const next = async () => {
    const { done, value } = await steps.next();
    if (done === true) return undefined;
    total += 1;
    return value;
  };
  async function* batches(): AsyncGenerator<readonly Row[]> {
    // An output that cannot be written is found out before the first step.
    yield [];
    try {
      for (let step = await next(); step !== undefined; step = await next()) yield [{ ...step }];
      ctx.ui.notice(`${name}: ${total} steps, all as expected.`);
    } finally {
      while ((await next()) !== undefined);
    }
  }
  return { batches: batches(), page: () => ({ total }), runsOn: true, footer: count => `${count} steps.` };
}

/**
 * Throws `guarded` when the chosen profile speaks to anything but the sandbox that the simulations go to, and
 * `not_authenticated` when none is chosen and a step is one of the service: what steers the sandbox needs no profile.
 */
async function stepPerformer(ctx: Context, steps: readonly Step[]): Promise<ExecuteStep> {
  const needsService = steps.some(({ operation }) => operation.surface === 'service');
  await (needsService ? refuseElsewhere(ctx) : undefinedOn('not_authenticated', refuseElsewhere(ctx)));
  return async ({ surface, name, row }, input) => {
    if (surface === 'admin') {
      const { result } = await (await ctx.sandbox.admin()).send(name as 'status', input as never);
      if (name === 'reset') await (await ctx.journal.admin()).setAsideSandbox();
      return result;
    }
    if (row.effect === 'read') return ctx.api.read(name as ReadName, input as never);
    const written = await ctx.api.write(name as WriteName, input as never, {
      intent: `${name}, a step of the scenario`,
      confirmed: true,
      // A story shows the cards it made, not what a journal wrote on them.
      marker: false,
    });
    return written.result;
  };
}

async function refuseElsewhere(ctx: Context): Promise<void> {
  const { mode, baseUrl, profile } = await ctx.api.identity();
  const elsewhere = await ctx.sandbox.elsewhere();
  const isSame =
    elsewhere === undefined
      ? mode === 'sandbox'
      : URL.canParse(baseUrl) && new URL(baseUrl).origin === elsewhere.origin;
  if (isSame) return;
  throw notSent(
    'guarded',
    `a scenario plays in ${await ctx.sandbox.named()}, and the profile ${profile} speaks to ${baseUrl}`,
    elsewhere ? 'cardwright whoami' : sameCommandWith('--sandbox'),
  );
}
