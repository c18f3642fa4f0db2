/** `fleet plan`: the plan made or read, its page, and what the exit code says of it. */
import type { Context } from '../../cli/context.ts';
import { quote, usage } from '../../cli/parsing/values.ts';
import { DAY, durationOf, HOUR } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { differs, type PlanDocument, readPlanFile } from '../../fleet/plan-file.ts';
import { planMarkdown, planText } from '../../fleet/plan-page.ts';
import { type Allowed, GUARDED_CLASSES } from '../../fleet/step.ts';
import { makePlan, refuseOverCaps } from './make-plan.ts';
import { fleetOf } from './read-file.ts';

/** A day: the plan of a pull request is applied when it is merged. */
export const USUAL_LIFE_MS = DAY;
const [SHORTEST_LIFE_MS, LONGEST_LIFE_MS] = [HOUR, 7 * DAY];

/** Reads alone. Throws as `makePlan` does; a plan that was made is shown, whatever it says. */
export async function runPlan(ctx: Context, flags: PlanFlags): Promise<ShownPlan> {
  const { file, out, exitCode, allow = [], expires, show } = flags;
  if (show !== undefined) return shownPlan(readPlanFile(await ctx.readFile(show), show), flags, undefined);
  const named = await fleetOf(ctx, file);
  const { document } = await makePlan(ctx, named, { allowed: allowedOf(allow), lifeMs: lifeOf(expires) });
  const failure = failureOf(document, { exitCode, word: named.word, out });
  if (out !== undefined && failure?.kind !== 'guarded') await writePlan(ctx, out, document);
  return shownPlan(document, flags, failure);
}

function shownPlan(document: PlanDocument, { md, noAmounts }: PlanFlags, failure: CliError | undefined): ShownPlan {
  const page = md === true ? planMarkdown(document, { amounts: noAmounts !== true }) : planText(document);
  return { data: { ...document }, page, failure };
}

/** The very bytes that `--json` prints. */
async function writePlan(ctx: Context, path: string, document: PlanDocument): Promise<void> {
  await ctx.createFile(path, `${JSON.stringify(document, null, 2)}\n`);
}

/** `unfreeze=2` and the like. Throws `usage`. */
function allowedOf(texts: readonly string[]): Allowed {
  const allowed: Record<string, number> = {};
  for (const typed of texts) {
    const [, name = '', count = ''] = /^([a-z]+)=(\d{1,6})$/.exec(typed) ?? [];
    const known = GUARDED_CLASSES.find(each => each === name);
    if (known === undefined) {
      throw usage(
        `--allow ${quote(typed)} is not a class with its number, such as unfreeze=2: ${GUARDED_CLASSES.join(', ')}`,
      );
    }
    if (known in allowed) throw usage(`--allow names ${known} twice`);
    allowed[known] = Number(count);
  }
  // In one order, however they were typed: the plan's id covers them.
  return Object.fromEntries(GUARDED_CLASSES.flatMap(name => (name in allowed ? [[name, allowed[name]]] : [])));
}

function lifeOf(typed: string | undefined): number {
  if (typed === undefined) return USUAL_LIFE_MS;
  const life = durationOf(typed);
  if (life !== undefined && life >= SHORTEST_LIFE_MS && life <= LONGEST_LIFE_MS) return life;
  throw usage(`--expires ${quote(typed)} is not a length of time from 1h to 7d`);
}

interface Asked {
  readonly exitCode: ExitCode | undefined;
  readonly word: string;
  /** Where the plan was written to. */
  readonly out: string | undefined;
}

/** What the exit code says of a plan that was printed. */
function failureOf(document: PlanDocument, { exitCode, word, out }: Asked): CliError | undefined {
  try {
    refuseOverCaps({ document });
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
  const [unknown] = document.unknown;
  if (unknown !== undefined) {
    const { length } = document.unknown;
    return new CliError('outcome_unknown', {
      message: `${length === 1 ? `what became of ${unknown.name} is` : `what became of ${length} cards is`} not known; nothing is planned for ${length === 1 ? 'it' : 'them'}`,
      hint: `cardwright ops resume ${unknown.op}`,
      op: unknown.op,
    });
  }
  if (exitCode === undefined) return undefined;
  const drifted = document.differences.filter(each => each.class === 'drift');
  const isOther = exitCode === 'drift' ? drifted.length > 0 : differs(document);
  if (!isOther) return undefined;
  const { steps, blocked, held_back: held, fleet } = document;
  const parts = [
    [steps.length, 'to do'],
    [blocked.length, 'blocked'],
    [held.reduce((all, { count }) => all + count, 0), 'held back'],
  ] as const;
  const texts = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const what = exitCode === 'drift' ? `${drifted.length} changed at the service` : texts.join(', ');
  return new CliError('differs', {
    message: `the cards of ${fleet} differ from the file: ${what}. Nothing was sent`,
    // Without a step there is no command: the page tells what to write into the file, or to allow.
    ...(steps.length > 0 && { hint: nextCommand(word, out) }),
    outcome: 'not_sent',
  });
}

function nextCommand(word: string, out: string | undefined): string {
  if (out === undefined) return `cardwright fleet plan ${word} --out plan.json`;
  return `cardwright fleet apply ${word} --plan ${shellWord(out)}`;
}

export const EXIT_CODES = ['any', 'drift'] as const;
type ExitCode = (typeof EXIT_CODES)[number];

interface PlanFlags {
  readonly file?: string | undefined;
  readonly out?: string | undefined;
  readonly md?: boolean | undefined;
  readonly noAmounts?: boolean | undefined;
  readonly exitCode?: ExitCode | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly show?: string | undefined;
}

export interface ShownPlan {
  /** The JSON. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The page for people. */
  readonly page: string;
  readonly failure: CliError | undefined;
}
