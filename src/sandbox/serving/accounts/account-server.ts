/**
 * One server of a team's sandbox: it keeps nothing of its own, so that any number of them serve the same accounts. Whose
 * request it is the key says; what falls due is done by whichever server comes first.
 */
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { MINUTE } from '../../../core/durations.ts';
import { CliError } from '../../../core/errors.ts';
import { digestOf } from '../../../core/key-print.ts';
import { sameCommandWith } from '../../../core/same-command.ts';
import { isOwnerGoneHere } from '../../../files/process-identity.ts';
import { between } from '../../../platform/jitter.ts';
import { finishMove } from '../../admin/advance-clock.ts';
import { Archives } from '../../archive/archives.ts';
import { shownTime } from '../../clock/clock.ts';
import { createDispatcher, type Dispatcher } from '../../delivery/dispatcher.ts';
import { deliveryFaults } from '../../faults/delivery-faults.ts';
import { surfaceOf } from '../../http/routing.ts';
import { accountGone, authorizerOfDigest, bearerIn } from '../../requests/authorize.ts';
import { Exchange } from '../../requests/exchange.ts';
import { isDatabaseAway, isDatabaseFull, whyAway } from '../../requests/unavailable.ts';
import { isoTime } from '../../rules/dates.ts';
import { catchUp, type ServiceParts } from '../../service/service.ts';
import { CommitUnknown } from '../../store/faults.ts';
import { type AccountRow, type DueRow, type ExpiredRow, removeExpired } from '../../store/postgres/accounts.ts';
import { AccountGone, StoreBusy } from '../../store/sql.ts';
import { type PartsPlan, type Plan, partsFor } from '../assemble.ts';
import { type Answerers, type ListenAddress, type RunningServer, serveWith } from '../server.ts';
import type { OpenDatabase } from './database.ts';

export interface AccountsPlan extends Omit<PartsPlan, 'path' | 'key' | 'dialect' | 'pageFiles' | 'scenarios'> {
  readonly place: ListenAddress;
  /** The control surface of each account is served to whoever has its token. */
  readonly hasControl: boolean;
  readonly deliveries: Omit<Plan['deliveries'], 'live'>;
  /** Folder of snapshots, one below it for each account. */
  readonly folder: string;
}

/** Real ms that what is known of a key is believed. */
const KEY_FOR = 1_000;
const MOST_KEYS = 1_000;
/** Real ms between two looks for what is due; servers do not look all at once. */
const LOOK_EVERY = { least: 160, most: 240 } as const;

/** Real ms that one account is waited for before the next one is looked at: somebody may hold its lock for long. */
const PATIENCE = 50;

/** What is done for an account without a request. */
type Task = 'timers' | 'deliveries' | 'move' | 'log';

interface Tenant {
  readonly parts: ServiceParts & { readonly dispatcher: Dispatcher };
  readonly exchange: Exchange;
  /** What is being done for it now. */
  readonly tasks: Map<Task, Promise<void>>;
}

/** Whoever shows a key that nobody has, one of an account, or one of an account that has ended. */
type Holder = AccountRow | ExpiredRow | undefined;

/** Serves until stopped. Throws `unreachable` when the place is taken. The database is closed with it. */
export async function serveAccounts(database: OpenDatabase, plan: AccountsPlan): Promise<RunningServer> {
  const ending = new AbortController();
  let tenants: Tenants | undefined;
  const server = await serveWith(stopping => {
    tenants = new Tenants(database, plan, stopping);
    return tenants;
  }, plan.place).catch(async (error: unknown) => {
    await database.close();
    const isTaken = error instanceof CliError && error.kind === 'unreachable';
    throw isTaken ? error.with({ hint: sameCommandWith('--port 0') }) : error;
  });
  const watching = tenants?.watchUntil(ending.signal);
  return {
    origin: server.origin,
    async stop() {
      await server.stop();
      ending.abort();
      await watching;
      await tenants?.close();
      await database.close();
    },
  };
}

class Tenants implements Answerers {
  readonly nobody: Exchange;
  readonly #database: OpenDatabase;
  readonly #plan: AccountsPlan;
  readonly #stopping: AbortSignal;
  readonly #tenants = new Map<string, Tenant>();
  readonly #keys = new Map<string, { readonly holder: Promise<Holder>; readonly until: number }>();
  #removing: Promise<void> | undefined;
  #hosts: readonly string[] = [];
  #isAway = false;
  #toldFullAt = Number.NEGATIVE_INFINITY;

  constructor(database: OpenDatabase, plan: AccountsPlan, stopping: AbortSignal) {
    this.#database = database;
    this.#plan = plan;
    this.#stopping = stopping;
    this.nobody = new Exchange(this.#partsOf('', { key_digest: null, token_digest: null }), stopping);
  }

  listens(hosts: readonly string[]): void {
    this.#hosts = hosts;
    this.nobody.hosts = hosts;
  }

  async of({ url = '', headers }: IncomingMessage): Promise<Exchange> {
    const given = bearerIn(headers.authorization);
    if (given === undefined) return this.nobody;
    const holder = await this.#holderOf(digestOf(given), surfaceOf(url));
    if (holder === undefined) return this.nobody;
    return 'expired_at' in holder ? this.#refusing(holder) : this.#tenantOf(holder).exchange;
  }

  /** Does what falls due in any account until `signal` is aborted. */
  async watchUntil(signal: AbortSignal): Promise<void> {
    const { clock, random, onFault } = { ...this.#plan, ...this.#plan.host };
    while (!signal.aborted) {
      try {
        const all = await this.#database.accounts.due();
        this.#told(undefined);
        await this.#forgetOthers(new Set(all.map(({ account_id }) => account_id)));
        for (const due of all) await this.#look(due, signal);
        for (const tenant of this.#tenants.values()) await this.#shortly(tenant, 'log', signal);
      } catch (error) {
        if (isDatabaseAway(error)) this.#told(error);
        else if (!(error instanceof StoreBusy)) onFault(error);
      }
      await clock.sleep(between(random, LOOK_EVERY.least, LOOK_EVERY.most), signal).catch(() => undefined);
    }
  }

  /** Whoever runs the server is told once that its database cannot be used, and once that it can. */
  #told(away: unknown): void {
    if (this.#isAway === (away !== undefined)) return;
    this.#isAway = away !== undefined;
    const says = this.#isAway
      ? `cannot be used: ${whyAway(away)}; requests are answered 503 until it can`
      : 'can be used again';
    this.#plan.onFault(new Error(`the sandbox store ${this.#database.shown} ${says}`));
  }

  /** Reads go on, and do not show when there is room again: so it is said once a minute as long as changes are refused. */
  #toldFull(error: unknown): void {
    const now = this.#plan.host.clock.monotonic();
    if (now - this.#toldFullAt < MINUTE) return;
    this.#toldFullAt = now;
    this.#plan.onFault(
      new Error(
        `the sandbox store ${this.#database.shown} has no room left: ${whyAway(error)}; changes are answered 503 until its disk has room again`,
      ),
    );
  }

  async close(): Promise<void> {
    for (const { parts, tasks } of this.#tenants.values()) {
      await Promise.all(tasks.values());
      await parts.requestLog.flush(parts).catch((error: unknown) => {
        // Of an account that was removed nobody reads it.
        if (!(error instanceof AccountGone)) this.#plan.onFault(error);
      });
      await parts.dispatcher.stop();
      await parts.archives.close();
    }
    await this.#removing;
  }

  async #look(due: DueRow, signal: AbortSignal): Promise<void> {
    if (due.is_over === 1) return this.#removeOver(due.account_id);
    const real = this.#database.clock.now();
    const now = shownTime(due, real);
    const isDue = (at: number | null, by: number) => at !== null && at <= by;
    const hasTimers = isDue(due.timer_due, now);
    const hasDeliveries = isDue(due.delivery_due, now) || isDue(due.lease_until, real) || this.#isLeft(due);
    const hasMove = due.moves_to !== null && (isDue(due.move_until, real) || this.#isMoverGone(due));
    if (!hasTimers && !hasDeliveries && !hasMove) return;
    const tenant = this.#tenants.get(due.account_id) ?? (await this.#tenantNamed(due.account_id));
    if (tenant === undefined) return;
    if (hasMove) void this.#begun(tenant, 'move', signal);
    if (hasTimers) await this.#shortly(tenant, 'timers', signal);
    if (hasDeliveries) void this.#begun(tenant, 'deliveries', signal);
  }

  /** Removes an account whose end has come. One at a time: another server may be doing so, and its lock is waited for. */
  #removeOver(account: string): void {
    const { accounts, of } = this.#database;
    this.#removing ??= of(account)
      .write(sql => removeExpired(sql, account), 'large')
      .then(async isRemoved => {
        if (!isRemoved) return;
        await this.#removeFolder(account);
        await accounts.forgetExpired();
      })
      .catch((error: unknown) => {
        if (!(error instanceof StoreBusy)) this.#plan.onFault(error);
      })
      .finally(() => {
        this.#removing = undefined;
      });
  }

  /** Whether a process of this machine was sending for it and is gone. */
  #isLeft({ senders }: DueRow): boolean {
    const { isGone } = this.nobody.parts;
    return senders?.split('\n').some(isGone) ?? false;
  }

  /** Whether a process of this machine was moving its clock and is gone. */
  #isMoverGone({ mover }: DueRow): boolean {
    return mover !== null && this.nobody.parts.isGone(mover);
  }

  /** Begins a task unless it is under way, and waits a moment for its end. */
  async #shortly(tenant: Tenant, task: Task, signal: AbortSignal): Promise<void> {
    if (tenant.tasks.has(task)) return;
    if (task === 'log' && tenant.parts.requestLog.waiting.length === 0) return;
    const over = new AbortController();
    const enough = this.#plan.host.clock.sleep(PATIENCE, AbortSignal.any([over.signal, signal])).catch(() => undefined);
    await Promise.race([this.#begun(tenant, task, signal), enough]);
    over.abort();
  }

  #begun({ parts, tasks }: Tenant, task: Task, signal: AbortSignal): Promise<void> {
    const underWay = tasks.get(task);
    if (underWay !== undefined) return underWay;
    const { requestLog, dispatcher, onFault } = parts;
    const done = {
      timers: () => catchUp(parts),
      move: () => finishMove(parts),
      deliveries: () => dispatcher.deliver({ kind: 'due', signal }),
      log: () => requestLog.flush(parts),
    }[task]();
    const begun = Promise.resolve(done)
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!(error instanceof StoreBusy)) onFault(error);
      })
      .finally(() => tasks.delete(task));
    tasks.set(task, begun);
    return begun;
  }

  /** Accounts that were removed, by another process too: nobody can restore their snapshots. */
  async #forgetOthers(accounts: ReadonlySet<string>): Promise<void> {
    for (const account of this.#tenants.keys()) {
      if (accounts.has(account)) continue;
      this.#tenants.delete(account);
      this.#database.forget(account);
      await this.#removeFolder(account);
    }
  }

  /** Of an account of this store: servers of other stores may have theirs beside it. */
  #removeFolder(account: string): Promise<void> {
    return rm(this.#folderOf(account), { recursive: true, force: true });
  }

  async #tenantNamed(account: string): Promise<Tenant | undefined> {
    const row = (await this.#database.accounts.all()).find(each => each.account_id === account);
    return row && this.#tenantOf(row);
  }

  #tenantOf(row: AccountRow): Tenant {
    const tenant = this.#tenants.get(row.account_id) ?? this.#made(row);
    this.#tenants.set(row.account_id, tenant);
    // Another server may have been told to speak otherwise.
    tenant.parts.activeDialect.use(row.dialect);
    return tenant;
  }

  #made(row: AccountRow): Tenant {
    const base = this.#partsOf(row.account_id, row);
    const { deliveries } = this.#plan;
    const faults = deliveries.faults ?? deliveryFaults;
    const parts = { ...base, dispatcher: createDispatcher(base, { ...deliveries, live: false, faults }) };
    const exchange = new Exchange(parts, this.#stopping);
    exchange.hosts = this.#hosts;
    return { parts, exchange, tasks: new Map() };
  }

  /** What is kept of an account on the disk of this server. */
  #folderOf(account: string): string {
    return join(this.#plan.folder, account);
  }

  /** Answers whoever shows a key of an account that has ended. */
  #refusing({ name, expired_at }: ExpiredRow): Exchange {
    const { parts, hosts } = this.nobody;
    const refuse = () => {
      throw accountGone(`${name} ended at ${isoTime(expired_at)}`);
    };
    const exchange = new Exchange({ ...parts, authorize: { service: refuse, admin: refuse } }, this.#stopping);
    exchange.hosts = hosts;
    return exchange;
  }

  #partsOf(
    account: string,
    { name, ...keys }: Pick<AccountRow, 'key_digest' | 'token_digest'> & Partial<AccountRow>,
  ): ServiceParts {
    const { host, hasControl, onFault } = this.#plan;
    const { clock, accounts, shown } = this.#database;
    let lastLost: CommitUnknown | undefined;
    const base = partsFor({ ...this.#plan, path: shown, host: { ...host, clock } }, this.#database.of(account));
    return {
      ...base,
      account,
      keyDigest: keys.key_digest,
      authorize: { service: authorizerOfDigest(keys.key_digest), admin: authorizerOfDigest(keys.token_digest) },
      hasControl,
      isShared: true,
      onFault: error => {
        if (isDatabaseFull(error)) return this.#toldFull(error);
        // That the database cannot be used is told once for all accounts, and a lost commit once for all its works.
        if (error instanceof StoreBusy || (error instanceof CommitUnknown && error === lastLost)) return;
        if (error instanceof CommitUnknown) lastLost = error;
        onFault(new Error(faultText(error, name, host.clock.now())));
      },
      isGone: other => isOwnerGoneHere(other, base.owner, host.isRunning),
      archives: new Archives({
        ...host,
        folder: account === '' ? undefined : join(this.#folderOf(account), 'snapshots'),
      }),
      keepDialect: async dialect => {
        await accounts.setDialect(account, dialect);
        this.#keys.clear();
      },
    };
  }

  /** Looked up once a second at most, whatever is asked. Throws `StoreBusy` when the database does not answer. */
  #holderOf(digest: string, surface: 'service' | 'admin'): Promise<Holder> {
    const name = `${surface} ${digest}`;
    const now = this.#plan.host.clock.monotonic();
    const found = this.#keys.get(name);
    if (found !== undefined && found.until > now) return found.holder;
    if (this.#keys.size >= MOST_KEYS) this.#keys.clear();
    const { accounts } = this.#database;
    const asked: Promise<Holder> = surface === 'admin' ? accounts.byToken(digest) : accounts.byKey(digest);
    const holder = asked
      .then(row => row ?? accounts.expired(digest))
      .catch((cause: unknown) => {
        this.#keys.delete(name);
        throw new StoreBusy('the database does not answer', { cause });
      });
    this.#keys.set(name, { holder, until: now + KEY_FOR });
    return holder;
  }
}

/** For the log of a server, of which many accounts are. `at`: ms UTC. */
function faultText(error: unknown, account: string | undefined, at: number): string {
  const where = `${account === undefined ? '' : `account ${account}, `}${new Date(at).toISOString()}: `;
  if (!(error instanceof CommitUnknown)) return `${where}${error instanceof Error ? error.message : String(error)}`;
  return `${where}the connection to the database was lost during a commit, and whether it lasted is not known. A request got no answer: repeat it with the same X-Idempotency-Key. Timers and deliveries are repeated by the servers.`;
}
