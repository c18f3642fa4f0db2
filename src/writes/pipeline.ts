/**
 * The one order of everything that changes something at the service. A single command, several ids, a file, a
 * selection, `ops resume`, a lease, `api` and a probe of keys hand in what they want and what must be asked; the
 * stages follow each other here alone.
 *
 * | stage | what happens | when it refuses |
 * |---|---|---|
 * | check | what the caller itself knows against it: a wallet that is too low, an earlier one that is not settled | nothing was sent |
 * | guard | live key, read-only profile, `--live` | nothing was sent |
 * | confirm | the question to a person | nothing was sent |
 * | audit begin | a line that it begins; with a live key nothing goes on without it | nothing was sent |
 * | journal | its claim: an earlier one, the same change again, limits, approval; then the plan is durable, or the op is taken over | nothing was sent |
 * | execute | the requests | as each of them says |
 * | audit end | what became of it | |
 *
 * Whatever refuses it, in whatever stage, the audit log has a line of it. A plan that waits for approval is durable; its resume
 * is measured against the limits anew. A probe of keys, which no journal keeps, checks the limits itself.
 */
import { CALLS, isJournaled, type WriteName } from '../contract/calls.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { Run } from '../journal/run.ts';
import { afterwards } from '../journal/words.ts';
import type { LimitSource } from '../limits/limits.ts';
import { type BegunRecord, type Learned, outcomeOf, type Recorded, type Recorder, whyOf } from './audit-record.ts';
import { type GuardDecision, guardEffect } from './guard.ts';

/** What somebody wants changed. */
export interface Change {
  /** What the audit log says of it; no op, for there is none before the journal has one. */
  readonly audited: Recorded;
  /** Every kind of operation in it; the guard is asked for each. */
  readonly operations: Iterable<WriteName>;
  /** The caller gave the ids, and no file or condition did: freezing these is the safe direction. */
  readonly named?: boolean;
  /** Throws what speaks against it before anybody is asked. */
  check?(): Promise<void>;
  /** Asks a person where that is due. Throws `not_confirmed`. */
  ask?(verdict: GuardDecision): Promise<void>;
}

/** How an admitted change begins. */
export interface Beginning<R extends Run | undefined> {
  /** The op that the run will have, for its first line. */
  readonly op?: string | undefined;
  /** Makes the plan durable, or takes the op over; nothing is sent by it. Undefined for what is not journaled. */
  open(): Promise<R>;
}

interface Ending {
  /** Why it is not done; undefined when it is. */
  readonly failure?: unknown;
  /** What the answer told of what was made. */
  readonly learned?: Learned | undefined;
}

export interface Work<R extends Run | undefined, Result> {
  execute(run: R): Promise<Result>;
  /** What the answer tells of what was made. */
  learn?(result: Result): Learned;
}

/** A change under way: everything before its first request has happened. */
export interface Underway<R extends Run | undefined> {
  /** Let go at the end. */
  readonly run: R;
  /** Takes the outcomes of the rows of a run. */
  readonly rows: Pick<BegunRecord, 'row'>;
  /** The last stage. Throws `check_failed` when it is done and what was held could not be let go. */
  end(ending: Ending): Promise<void>;
}

export type Pipeline = ReturnType<typeof createPipeline>;
/** A change that nothing refused and somebody agreed to. Nothing was written or sent yet. */
export type Admitted = Awaited<ReturnType<Pipeline['admit']>>;

interface PipelineSettings {
  readonly identity: () => Promise<Identity>;
  /** What makes the run read-only: the profile, the managed file; undefined where nothing does. */
  readonly readOnly: () => Promise<LimitSource | undefined>;
  readonly canAsk: boolean;
  readonly yes: boolean;
  readonly live: string | undefined;
  readonly dryRun: boolean;
  readonly recorder: Recorder;
}

export function createPipeline(settings: PipelineSettings) {
  const { recorder } = settings;

  async function guard({ operations, named = false }: Change): Promise<GuardDecision> {
    const [identity, readOnly] = [await settings.identity(), await settings.readOnly()];
    const { live, dryRun } = settings;
    // In place of the question a dry run shows what would be sent.
    const [canAsk, yes] = [settings.canAsk || dryRun, settings.yes || dryRun];
    const verdicts = [...new Set(operations)].map(operation => {
      const safeDirection = named && operation === 'cards.freeze';
      return guardEffect({ identity, effect: CALLS[operation].effect, safeDirection, readOnly, canAsk, yes, live });
    });
    return verdicts.includes('ask') ? 'ask' : 'go';
  }

  async function begin<R extends Run | undefined>(change: Change, beginning: Beginning<R>): Promise<Underway<R>> {
    const { audited, operations } = change;
    const { op } = beginning;
    // The claim of a journal takes the line to the disk.
    const durability = [...operations].every(isJournaled) ? 'soon' : undefined;
    const lines = await recorder.begin({ ...audited, ...(op !== undefined && { op }) }, durability);
    try {
      const run = await beginning.open();
      return { run, rows: lines, end: ending => end(change, lines, run, ending) };
    } catch (thrown) {
      const outcome = thrown instanceof CliError ? (thrown.facts.outcome ?? 'not_sent') : 'internal';
      await lines.end(outcome, whyOf(thrown));
      throw thrown;
    }
  }

  return {
    /**
     * What would refuse the change before anybody is asked, for a dry run: check and guard. Nothing is written or recorded. Throws as
     * `admit` would; what a claim would refuse is told by `PreparedRun.foresee`.
     */
    async foresee(change: Change): Promise<void> {
      await change.check?.();
      await guard(change);
    },
    /** Check, guard and question. Throws `guarded`, `not_confirmed` and what the check throws; nothing was sent. */
    async admit(change: Change) {
      try {
        await change.check?.();
        await change.ask?.(await guard(change));
      } catch (thrown) {
        await recorder.refused(change.audited, thrown);
        throw thrown;
      }
      return {
        begin: <R extends Run | undefined>(beginning: Beginning<R>) => begin(change, beginning),
        /** Begins, executes and ends. */
        async execute<R extends Run | undefined, Result>(
          beginning: Beginning<R>,
          { execute, learn }: Work<R, Result>,
        ): Promise<Result> {
          const underway = await begin(change, beginning);
          const result = await execute(underway.run).catch(async (thrown: unknown) => {
            await underway.end({ failure: thrown });
            throw thrown;
          });
          await underway.end({ learned: learn?.(result) });
          return result;
        },
      };
    },
  };
}

async function end({ audited }: Change, lines: BegunRecord, run: Run | undefined, ending: Ending): Promise<void> {
  const { failure } = ending;
  const { approvedBy = [] } = run ?? {};
  const learned = { ...ending.learned, ...(approvedBy.length > 0 && { approved_by: approvedBy.join(', ') }) };
  let lost: unknown;
  const attempt = async (what: string, work: () => PromiseLike<void> | undefined) => {
    try {
      await work();
    } catch (thrown) {
      lost ??= afterwards(thrown, audited.operation, what, run?.op);
    }
  };
  await attempt('its journal could not be let go', () => run?.[Symbol.asyncDispose]());
  if (failure !== undefined) return lines.end(outcomeOf(failure), { ...learned, ...whyOf(failure) });
  await lines.end('done', learned);
  // What became of the write comes before what became of its files.
  if (lost !== undefined) throw lost;
}
