/** A command over a shared journal in a process of its own, which kills itself around the n-th call or request. */

import { CliError } from '../../src/core/errors.ts';
import { payloadText } from '../../src/journal/approvals/payload.ts';
import { requestIdOf } from '../../src/journal/approvals/request-id.ts';
import { type ApprovalGate, pendingElsewhere } from '../../src/journal/runs/approval-gate.ts';
import type { AfterAnswer } from '../../src/journal/runs/dependencies.ts';
import type { OpStore } from '../../src/journal/store/op-store.ts';
import { placesIn } from '../../src/journal/store/paths.ts';
import type { PlanRecord } from '../../src/journal/wal/records.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import type { Clock } from '../../src/platform/host.ts';
import { openPostgres } from '../../src/postgres/client.ts';
import { chainHead, type SharedOps } from '../../src/team/shared-ops.ts';
import { sharedStore } from '../../src/team/shared-store.ts';
import { type Statements, statementsOver } from '../../src/team/statements.ts';
import { type Effect, journalFor, type Order, performAll, planOf, sending } from '../crash/driver.ts';
import { random, realClock } from '../support/clocks.ts';
import { KEY_PRINT } from './test-account.ts';

export interface SharedOrder extends Order {
  /** What is held: asking for it, or sending this op when it was approved. Nothing is held when left out. */
  readonly held?: 'asks' | { readonly op: string } | undefined;
  /** The call whose answer nobody hears, in place of `dieAt`. */
  readonly dieBehind?: 'claim' | 'release' | undefined;
  readonly account: string;
  readonly role: string;
  readonly socket: string;
  readonly port: number;
  readonly database: string;
}

/** Runs the order to its end, or dies. */
export async function driveShared(order: SharedOrder): Promise<void> {
  let effects = 0;
  const effect: NamedEffect = behind => {
    effects += 1;
    const isDue = order.dieBehind === undefined ? effects === order.dieAt : behind === order.dieBehind;
    if (isDue) process.kill(process.pid, 'SIGKILL');
    return undefined;
  };
  const { store, end } = await storeAt(order, effect);
  const last: AfterAnswer[] = [];
  const afterAnswer = (work: AfterAnswer) => void last.push(work);
  const { held } = order;
  const running = { store, afterAnswer, ...(held !== undefined && { approvals: holdingGate(store, order) }) };
  const wraps = { disk: <T>(real: T) => real, service: sending(() => effect()) };
  const journal = journalFor(order, wraps, realClock, running);
  if (held === 'asks') await journal.begin(planOf(order)).catch(refuseOthers);
  else await performAll(await (held === undefined ? journal.begin(planOf(order)) : journal.resume(held.op)));
  // The answer is written here.
  effect();
  for (const work of last) await work('written');
  await end();
}

/** Told which call of the database it comes behind. */
type NamedEffect = (behind?: string) => ReturnType<Effect>;

function refuseOthers(thrown: unknown): void {
  if (!(thrown instanceof CliError) || thrown.kind !== 'pending_approval') throw thrown;
}

/** Holds every plan, and lets through what the journal has an approval of. */
export function holdingGate({ requests }: OpStore, { account, role }: SharedOrder): ApprovalGate {
  return {
    async judge({ record }, begin) {
      const { op, origin, mode, command, rows, total_cents: sum } = record;
      const names = {
        id: requestIdOf(op),
        journal: (await requests?.journal()) ?? '',
        account,
        origin,
        mode,
        op,
        command,
      };
      const amounts = { rows, cents: sum, largest_cents: sum, irreversible: false, targets: [], plan_sha256: '' };
      const [now, later] = [Date.now(), Date.now() + 3_600_000].map(at => new Date(at).toISOString());
      const asked = { requested_by: `${role}@${role}`, requested_at: now ?? '', expires_at: later ?? '' };
      const kind = { type: 'cardwright-approval', v: 1, rule: 'all is held', needed: 1 } as const;
      return begin(payloadText({ ...kind, ...names, ...amounts, ...asked }));
    },
    async verify({ plan: { op } }) {
      const envelopes = (await requests?.approvals(op)) ?? [];
      if (envelopes.length === 0) throw pendingElsewhere({ plan: { op } as PlanRecord });
      return { persons: ['bob'], envelopes };
    },
    foresee: async () => 'all is held',
    isApproved: async ({ plan: { op } }) => ((await requests?.approvals(op)) ?? []).length > 0,
    recheck: async () => undefined,
    flaw: async () => undefined,
    pending: async ({ plan }) => pendingElsewhere({ plan }),
  };
}

/** The store of one machine, whose folder is that of the order. */
export async function storeAt(
  order: SharedOrder,
  effect: NamedEffect = () => undefined,
  clock: Clock = realClock,
): Promise<{ readonly store: OpStore; end(): Promise<void> }> {
  const { socket: host, port, role: user, database } = order;
  const password = () => Promise.reject(new Error('the socket asks for no password'));
  const session = await openPostgres({ host, port, user, database }, { password, connectMs: 30_000, callMs: 60_000 });
  const { pid, platform } = process;
  const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock: realClock, random } });
  const statements = dying(statementsOver(session), effect);
  await disk.prepareFolder(order.folder);
  const shared: SharedOps = {
    statements: () => statements,
    account: order.account,
    journalId: (await statements.status(order.account)).journal_id,
    role: order.role,
    mayHold: false,
    host: order.role,
    machine: async () => '0123456789abcdef',
    clock,
    random,
    disk,
    notice: () => undefined,
    writeTotalMs: 75_000,
    head: chainHead(disk, `${order.folder}/head`, undefined),
    spoolFolder: async () => order.folder,
  };
  const store = sharedStore({
    shared: async () => shared,
    opened: async () => shared,
    keyPrint: async () => KEY_PRINT,
    hasLeft: async () => false,
    places: placesIn(order.folder),
    account: order.account,
  });
  return { store, end: () => session.end() };
}

/** Around each call: before it, and when the database has done it and nobody was told. */
function dying(real: Statements, effect: NamedEffect): Statements {
  const around = Object.entries(real).map(([name, call]) => [
    name,
    async (...asked: unknown[]) => {
      await effect();
      const answer = await (call as (...given: unknown[]) => Promise<unknown>)(...asked);
      await effect(name);
      return answer;
    },
  ]);
  return Object.fromEntries(around) as Statements;
}
