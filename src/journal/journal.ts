/** The journal of an account: plans are made, claimed and taken up here. What comes of their rows is a matter of `outcome.ts`. */

import { CALLS, type WriteName } from '../contract/calls.ts';
import type { Service } from '../contract/service.ts';
import { QUIET, READ_LAG } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import { keyPrint } from '../core/key-print.ts';
import type { Cents } from '../core/money.ts';
import { Secret } from '../core/secret.ts';
import { sameCommandWith, shellWord } from '../core/shell-quote.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { rest } from '../platform/time.ts';
import { type Acting, type Capability, findAccount, keepProbed, OF_SANDBOX, probedOf, useAccount } from './account.ts';
import { acknowledge, type HeldOp, SPENDS, takeOp, unknownOp } from './changes.ts';
import {
  appliesOf,
  begunAs,
  type ClaimRules,
  claim,
  type Draft,
  earlierUses,
  foresee,
  moment,
  whenFree,
} from './claim.ts';
import { type Database, keepsNothing, type Reading, type Transaction } from './database.ts';
import { rowDigest } from './digest.ts';
import type { Self } from './holder.ts';
import { lookOnce, speaksFor } from './look.ts';
import { attemptKey, isOp, MARKER_KEY, markerFault, markerOf, newOp } from './names.ts';
import { detail, rejectionOf, resolveRows, summaries } from './ops.ts';
import { quietLeft } from './outcome.ts';
import { probeKeys, probeRequests, probeRows } from './probe.ts';
import { type Change, isRefused, newChange, type Op, readChanges, readOp, recentChanges } from './records.ts';
import { type AfterAnswer, createRun, type Run, type RunSettings } from './run.ts';
import type { AroundWrite, EarlierUse, OpSummary, PlannedRow, Resolution, ResumeOptions, RunPlan } from './types.ts';
import { objected, opError } from './words.ts';
import { readerOf, timeOf, type Work, workOn } from './work.ts';

export interface JournalDependencies {
  /** Opens it, and makes it where there is none. */
  readonly database: () => Promise<Database>;
  /** Opens it to read; undefined where there is none. */
  readonly existing: () => Promise<Database | undefined>;
  readonly self: Self;
  /** The journal keeps prints of it alone. */
  readonly key: () => Promise<Secret>;
  /** Of a shared journal: its account, by name. Left out, the accounts of one machine. */
  readonly account?: ((tx: Pick<Transaction, 'all'>) => Promise<string>) | undefined;
  /** Limits and approvals. */
  readonly rules: ClaimRules;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly service: () => Promise<Service>;
  readonly acting: () => Promise<Acting>;
  /** Whether the embedded sandbox honours keys; taken for granted when left out. */
  readonly sandboxHonoursKeys?: (() => Promise<boolean>) | undefined;
  /** The clock of the service by its newest answer, ms UTC; undefined while no answer has told the time. */
  readonly serviceNow?: (() => number | undefined) | undefined;
  /** `--timeout` or the total of one write, ms. */
  readonly writeTotalMs: number;
  /** No row is begun after it. */
  readonly stop: AbortSignal;
  /** Cuts off what is on the wire. */
  readonly cut: AbortSignal;
  /** Called when a run is open: the process must not end before it is let go. */
  readonly hold: () => () => void;
  readonly notice: (text: string) => void;
  /** Keeps work until the answer of the command was written. At once when left out. */
  readonly afterAnswer?: ((work: AfterAnswer) => void) | undefined;
}

type Flags = Pick<Work, 'lookOnly' | 'resumed' | 'resendAbsent'>;

/** The journal of an account. Every method throws `check_failed` for a damaged journal, `guarded` for one that cannot be used. */
export type Journal = ReturnType<typeof createJournal>;
/** A plan whose requests are made. */
export type PreparedRun = Awaited<ReturnType<Journal['prepare']>>;

export function createJournal(dependencies: JournalDependencies) {
  const { clock, random, self, rules, afterAnswer } = dependencies;
  const begunAt = clock.now();

  const printOf = async (database: Database): Promise<string> => {
    const { mode } = await dependencies.acting();
    return mode === 'sandbox' ? 'sandbox' : keyPrint(await dependencies.key(), database.id);
  };

  const accountIn = async (database: Database): Promise<string | undefined> => {
    const { account } = dependencies;
    if (account !== undefined) return database.read(account);
    const [acting, print] = [await dependencies.acting(), await printOf(database)];
    return database.read(tx => findAccount(tx, acting, print));
  };

  /** What the journal has of this account; `none` where it has nothing yet. */
  async function ofAccount<T>(read: (tx: Reading, account: string) => Promise<T>, none: T): Promise<T> {
    const database = await dependencies.existing();
    const account = database && (await accountIn(database));
    return database === undefined || account === undefined ? none : database.read(tx => read(tx, account));
  }

  /** Makes the requests of a plan, once. Throws `usage` for rows that cannot be sent. Nothing is written or sent. */
  async function prepare(plan: RunPlan) {
    if (plan.rows.length === 0) throw new CliError('internal', { message: 'a run without rows' });
    const id = newOp(random);
    const changes = [...changesOf(await dependencies.service(), plan, id)];
    return {
      /** The op it will have; another one where it takes up what a key of the caller was used for. */
      op: id,
      /** Requests that would be sent, for dry runs. */
      requests: changes.map(({ operation, request, key }) => ({ operation, ...request, idempotencyKey: key })),
      /**
       * Why it would be held for approval, in words; undefined where it would not. Throws what a claim would be refused for now; nothing
       * is written.
       */
      async foresee(): Promise<string | undefined> {
        const database = (await dependencies.existing()) ?? keepsNothing(clock);
        return foresee(
          { database, self, rules },
          await draftOf(database, plan, id, changes),
          await accountIn(database),
        );
      },
      /**
       * Claims it: from here on the op is durable. Nothing is sent by it. `wallet` is what the caller has read just before, of a run of
       * many that moves money between it and cards: the end of the run compares. Throws `guarded` (14) for a change that is not settled
       * or that another process works on, for the same file within 24 hours, for caps; `pending_approval` (17) where a rule holds it;
       * `usage` (2) for a key or an intent that was used for another change. With a key used before for the same change it resumes that
       * run.
       */
      begin: (wallet?: Cents): Promise<Run> => begin(plan, id, changes, wallet),
    };
  }

  async function draftOf(
    database: Database,
    plan: RunPlan,
    id: string,
    changes: readonly Change[],
    wallet?: Cents,
  ): Promise<Draft> {
    const [acting, print] = [await dependencies.acting(), await printOf(database)];
    const { rows, again = false, key: givenKey, markerPrefix, phased } = plan;
    let [total, movesMoney] = [0, false];
    for (const { operation, amount = 0 } of rows) {
      if (SPENDS.has(operation)) total += amount;
      movesMoney ||= CALLS[operation].effect === 'moves-money' || CALLS[operation].effect === 'irreversible';
    }
    const kept = { markerPrefix, phased, wallet };
    const age = () => clock.now() - begunAt;
    return { ...plan, ...acting, id, keyPrint: print, givenKey, movesMoney, again, total, changes, age, plan: kept };
  }

  /** The account, made where there is none. */
  async function accountUsed(database: Database): Promise<(tx: Transaction) => Promise<string>> {
    const [acting, print] = [await dependencies.acting(), await printOf(database)];
    return async tx => (await dependencies.account?.(tx)) ?? useAccount(tx, acting, print, self.holder);
  }

  async function begin(plan: RunPlan, id: string, changes: readonly Change[], wallet: Cents | undefined): Promise<Run> {
    const database = await dependencies.database();
    const draft = await draftOf(database, plan, id, changes, wallet);
    const claiming = { database, self, rules, useAccount: await accountUsed(database) };
    const sleep = (ms: number) => clock.sleep(ms, dependencies.stop);
    return whenFree(sleep, async () => {
      const result = await database.transaction(tx => claim(tx, claiming, draft));
      if (result.kind === 'pending') throw result.error;
      if (result.kind === 'earlier') return resume(result.op);
      return runOf({ database, self, op: result.op }, result.changes, {
        wallet,
        resendAbsent: plan.resendAbsent === true,
      });
    });
  }

  type Around = Partial<Pick<RunSettings, 'wallet' | 'approvedBy' | 'isReleased'> & Flags>;

  async function runOf(
    held: HeldOp,
    changes: readonly Change[],
    { lookOnly = false, resumed = false, resendAbsent = false, ...around }: Around,
  ): Promise<Run> {
    const work = await workOf(held, { lookOnly, resumed, resendAbsent });
    const quiet = lookOnly || !resendAbsent ? 0 : Math.ceil(quietLeft(work, changes) / 1000);
    if (quiet > 0) {
      dependencies.notice(`Nothing is sent again for ${quiet} s: until then the first request may still be under way.`);
    }
    work.markers.isHidden = changes.some(({ evidence }) => evidence.unmarked === true);
    return createRun({
      ...around,
      work,
      changes,
      afterAnswer,
      release: lookOnly ? () => undefined : dependencies.hold(),
    });
  }

  async function workOf(held: HeldOp, flags: Flags): Promise<Work> {
    const { op } = held;
    return workOn({
      ...held,
      ...flags,
      service: await dependencies.service(),
      clock,
      random,
      stop: dependencies.stop,
      cut: dependencies.cut,
      serviceNow: dependencies.serviceNow ?? (() => undefined),
      capability: await capabilityOf(held.database, op),
      quietMs: op.mode === 'sandbox' ? 0 : Math.max(2 * dependencies.writeTotalMs, QUIET),
    });
  }

  /** What keys of an account are known to be worth now. A live key is never probed, so of it nothing is known. */
  async function capabilityOf(
    database: Database | undefined,
    { mode, origin, keyPrint: print }: Pick<Op, 'mode' | 'origin' | 'keyPrint'>,
  ): Promise<Work['capability']> {
    if (mode === 'sandbox') {
      const isHonoured = (await dependencies.sandboxHonoursKeys?.()) ?? true;
      return () => (isHonoured ? OF_SANDBOX : { key: 'ignored', at: 0 });
    }
    const probed = mode === 'test' ? await database?.read(tx => probedOf(tx, origin, print)) : undefined;
    return operation => probed?.[operation] ?? { key: 'unknown' };
  }

  /** An op of this account that may go on with our key. */
  async function opNamed(database: Database | undefined, id: string): Promise<{ database: Database; op: Op }> {
    const op = database === undefined || !isOp(id) ? undefined : await database.read(tx => readOp(tx, id));
    if (database === undefined || op === undefined) throw unknownOp(id);
    return { database, op };
  }

  async function refuseOther(database: Database, op: Op): Promise<void> {
    const { mode, origin } = await dependencies.acting();
    const isSame = op.mode === mode && (mode !== 'sandbox' || op.origin === origin);
    if (!isSame) throw otherAccount(op);
    const rejected = rejectionOf(op);
    if (rejected !== undefined) throw opError('guarded', op.id, `${op.id} was ${rejected}. Nothing was sent`);
    if (database.isShared) return;
    if ((await printOf(database)) !== op.keyPrint) throw otherKey(op);
  }

  /**
   * An op as its journal has it now: its run looks at rows and asks the service, and neither writes nor sends. Needs no disposing.
   * Throws `not_found` for an unknown op, `usage` for another account's.
   */
  async function look(id: string, { resendAbsent = false }: ResumeOptions = {}): Promise<Run> {
    const { database, op } = await opNamed(await dependencies.existing(), id);
    await refuseOther(database, op);
    const changes = await database.read(async tx => {
      const found = await readChanges(tx, id);
      if (op.state === 'pending') await rules.resume(tx, op, found);
      return found;
    });
    return runOf({ database, self, op }, changes, { lookOnly: true, resumed: true, resendAbsent });
  }

  /** Takes the op. Throws as `look`, and `guarded` while another process works on it. */
  async function resume(id: string, { resendAbsent = false, reason }: ResumeOptions = {}): Promise<Run> {
    const { database: there, op: seen } = await opNamed(await dependencies.existing(), id);
    await refuseOther(there, seen);
    // Taking it up is a change: it needs the journal as a claim does.
    const database = await dependencies.database();
    const { op, changes, approvedBy } = await takeOp({ database, self }, id, rules.resume, reason);
    const isReleased = seen.state === 'pending';
    return runOf({ database, self, op }, changes, {
      resumed: !isReleased,
      resendAbsent,
      approvedBy,
      isReleased,
      ...(isReleased && { wallet: op.plan.wallet }),
    });
  }

  /**
   * The rows whose intents were used before with the same values, by the numbers of this plan. Throws `usage` for one that was
   * used with other values, `guarded` where its row belongs to a run of many that is not finished, and where a shared journal was put
   * back: there a name may stand for another purchase. Changes nothing.
   */
  async function earlierUsesOf({ rows, bulk, key: givenKey }: RunPlan): Promise<ReadonlyMap<number, EarlierUse>> {
    const there = rows.some(({ intent }) => intent !== undefined) ? await dependencies.existing() : undefined;
    if (there === undefined) return new Map();
    const database = there.isShared ? await dependencies.database() : there;
    const [print, account] = [await printOf(database), await accountIn(database)];
    if (account === undefined) return new Map();
    const uses = (tx: Reading) => earlierUses(tx, { account, rows, bulk, givenKey, keyPrint: print });
    // A transaction of a shared journal shows whether it is behind.
    return database.isShared ? database.transaction(uses) : database.read(uses);
  }

  /** Throws `guarded` where a limit refuses rows that no journal keeps. */
  async function judgeUnkept(database: Database, rows: readonly PlannedRow[]): Promise<void> {
    const account = (await accountIn(database)) ?? '';
    const { profile } = await dependencies.acting();
    await database.transaction(async tx =>
      rules.judge(tx, { id: '', account, profile, rows, ...(await moment(tx, account)) }),
    );
  }

  return {
    prepare,
    begin: async (plan: RunPlan): Promise<Run> => (await prepare(plan)).begin(),
    earlierUses: earlierUsesOf,
    /** The command has shown these rows: an op all of whose rows are among them is acknowledged once the answer was written. */
    async shown(uses: Iterable<EarlierUse>): Promise<CliError | undefined> {
      const ops = new Set([...uses].filter(({ settled }) => settled !== undefined).map(({ op }) => op));
      const database = ops.size === 0 ? undefined : await dependencies.existing();
      if (database === undefined) return undefined;
      for (const id of ops) {
        const op = await database.read(tx => readOp(tx, id));
        if (op === undefined || op.finished === undefined || op.bulk) continue;
        const acknowledged: AfterAnswer = async answer => {
          if (answer === 'written' && op.acknowledged === undefined) await acknowledge(database, op);
        };
        if (afterAnswer === undefined) await acknowledged('written');
        else afterAnswer(acknowledged);
        if (op.objections.length > 0) return objected(op.id, op.objections);
      }
      return undefined;
    },
    look,
    resume,
    /** Throws `guarded` where a shared journal is away or behind, or a limit lets nothing be changed: for what no journal keeps. */
    async admitUnkept(): Promise<void> {
      await judgeUnkept(dependencies.account === undefined ? keepsNothing(clock) : await dependencies.database(), []);
    },
    /** What an idempotency key of this account is known to be worth for an operation. */
    async capability(operation: WriteName): Promise<Capability> {
      const { mode, origin } = await dependencies.acting();
      const database = await dependencies.existing();
      const print = database === undefined ? '' : await printOf(database);
      return (await capabilityOf(database, { origin, mode, keyPrint: print }))(operation);
    },
    /** The run of many that was begun under a name. Throws `guarded` where it has ended: a plan is carried out once. */
    begunAs: (name: string): Promise<string | undefined> =>
      ofAccount((tx, account) => begunAs(tx, account, name), undefined),
    /** For `RunPlan.applies`, before a fleet is looked at; asks about a new key. Throws `guarded` while another process applies it. */
    async appliesOf(prefix: string): Promise<number> {
      await dependencies.database();
      return ofAccount((tx, account) => appliesOf(tx, self, { account, prefix }), 0);
    },
    /** Done changes of this account in the last ten minutes, oldest first: they count beside a list, which may be behind. */
    recent: (): Promise<readonly Change[]> => ofAccount(recentChanges, []),
    /** Newest first. */
    async list(): Promise<readonly OpSummary[]> {
      const database = await dependencies.existing();
      return database === undefined ? [] : summaries(database, self);
    },
    async show(id: string) {
      const { database } = await opNamed(await dependencies.existing(), id);
      return detail(database, self, id);
    },
    async resolve(resolution: Resolution) {
      const { database } = await opNamed(await dependencies.existing(), resolution.op);
      return resolveRows(database, self, resolution, async (op, changes) => {
        if (resolution.as === 'not-done') await insistOnThere(database, op, changes, resolution);
      });
    },
    /** Makes a probe of idempotency keys ready; nothing is sent by it. Throws `guarded` for a live key. */
    async probe(binId: string) {
      const service = await dependencies.service();
      const { mode, origin } = await dependencies.acting();
      if (mode === 'live') throw liveProbe();
      const token = newOp(random).slice(3, 13);
      const rows = probeRows(binId, token);
      return {
        /** What is sent at most, to a service that ignores keys. */
        rows,
        /** What a service that honours keys is sent. */
        requests: probeRequests(service, binId, token),
        /** Throws `guarded` where a limit refuses that. */
        async check(): Promise<void> {
          await judgeUnkept((await dependencies.existing()) ?? keepsNothing(clock), rows);
        },
        /** Uses keys twice, remembers for this account what they are worth, and terminates the cards it made. */
        async run(around: AroundWrite) {
          const database = await dependencies.database();
          const [use, print] = [await accountUsed(database), await printOf(database)];
          const probed = await probeKeys({
            service,
            reader: readerOf(service),
            binId,
            token,
            clock,
            stop: dependencies.stop,
            quietPeriodMs: mode === 'sandbox' ? 0 : Math.max(2 * dependencies.writeTotalMs, QUIET),
            around,
          });
          const found = Object.fromEntries(probed.map(({ operation, capability }) => [operation, capability]));
          await database.transaction(async tx => {
            await use(tx);
            await keepProbed(tx, origin, print, found);
          });
          return probed;
        },
      };
    },
  };

  /** Where a reading speaks for a row that a person calls not done, that person insists on it. */
  async function insistOnThere(database: Database, op: Op, changes: readonly Change[], { insist }: Resolution) {
    const sent = changes.filter(change => change.state !== 'planned' || isRefused(change));
    if (sent.length === 0) return;
    const { mode, origin } = await dependencies.acting().catch(() => ({ mode: undefined, origin: undefined }));
    if (mode !== op.mode || (mode === 'sandbox' && origin !== op.origin)) return;
    const work = await workOf({ database, self, op }, { lookOnly: true, resumed: true, resendAbsent: false });
    // Readings may be behind what was sent just now.
    const last = Math.max(...sent.map(({ lastSentAt = 0 }) => lastSentAt));
    const left = work.exact ? 0 : last + READ_LAG - (await timeOf(work));
    if (left > 0) await rest(left, clock, dependencies.stop);
    for (const change of sent) {
      const seen = await lookOnce(work, change);
      if (speaksFor(seen, change)) {
        const is = seen.found === 'cannot tell' ? 'may be' : 'is';
        await insist(`row ${change.n} of ${op.id} ${is} done: ${seen.text}`);
      } else if (seen.found === 'cannot tell') dependencies.notice(`warning: row ${change.n}: ${seen.text}`);
    }
  }
}

/** Throws `usage` for what cannot be sent. */
function* changesOf(service: Service, plan: RunPlan, op: string): Iterable<Change> {
  for (const row of plan.rows) {
    const { operation, label, aim, purpose, asked, keyChain, phase, needs } = row;
    const isCreate = operation === 'cards.create';
    const input = isCreate && plan.marker ? withMarker(row, op) : row.input;
    if (Object.values(input).some(value => value instanceof Secret)) {
      throw new CliError('internal', { message: `${operation} carries a secret and must not be journaled` });
    }
    // The name of a run of many is no key of its rows.
    const key = (plan.bulk ? undefined : plan.key) ?? attemptKey(op, { row: row.row, chain: keyChain }, 1);
    const { method, path, body, idempotencyKey } = service.plan(operation, input as never, { key, body: row.body });
    yield newChange({
      op,
      n: row.row,
      operation,
      input,
      request: { method, path, body },
      facts: { label, aim, purpose, asked, keyChain, phase, needs },
      key: idempotencyKey,
      marker: isCreate && plan.marker ? (row.marker ?? markerOf(op, row.row)) : undefined,
      intent: row.intent,
      digest: rowDigest(row),
      card: row.cardId,
      amount: row.amount ?? 0,
    });
  }
}

function withMarker({ row, input, marker }: PlannedRow, op: string): Readonly<Record<string, unknown>> {
  const { metadata = {} } = input;
  const message = markerFault(metadata);
  if (message !== undefined)
    throw new CliError('usage', { message, hint: sameCommandWith('--no-marker'), outcome: 'not_sent' });
  return { ...input, metadata: { ...(metadata as object), [MARKER_KEY]: marker ?? markerOf(op, row) } };
}

function otherAccount({ id, mode, origin, profile }: Op): CliError {
  const message = `${id} was begun with a ${mode} key at ${origin}, profile ${profile}; this command acts for another account`;
  const which = mode === 'sandbox' ? '--sandbox' : `--profile ${profile}`;
  // The profile of the environment is its variables.
  const isEnv = profile === 'env';
  return opError('usage', id, message, {
    ...(isEnv && { notes: ['Set CARDWRIGHT_API_KEY and the address as they were.'] }),
    hint: isEnv ? `export CARDWRIGHT_BASE_URL=${shellWord(origin)}` : `cardwright ${which} ops resume ${id}`,
  });
}

function otherKey({ id, profile }: Op): CliError {
  const message = `${id} was begun with another API key, profile ${profile}: whether this one is of the same account cannot be told. Nothing was sent`;
  return opError('usage', id, message);
}

function liveProbe(): CliError {
  return new CliError('guarded', {
    message: 'a probe sends every change twice, so it is not made with a live key',
    hint: 'cardwright contract check --help',
    outcome: 'not_sent',
  });
}
