/** What requests and approvals of a run are judged by: rule, approvers, requester, time. */

import { join, resolve } from 'node:path';
import type { Globals } from '../cli/parsing/globals.ts';
import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { sameCommandWith } from '../core/same-command.ts';
import { readPrivate } from '../files/private-files.ts';
import { type Approver, readApprovers } from '../journal/approvals/approvers.ts';
import type { GivenApproval } from '../journal/approvals/counted.ts';
import { type ApprovalRule, ruleOfProfile, stricter } from '../journal/approvals/rule.ts';
import { readKeyFile } from '../journal/approvals/signing-key.ts';
import type { ApprovingAccount, OpStore, PendingRequests } from '../journal/store/op-store.ts';
import type { PlanRecord } from '../journal/wal/records.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';

export interface ApprovalDependencies {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly opened: Connections;
  readonly store: () => Promise<OpStore>;
  readonly reader: () => Promise<Reader>;
  readonly notice: (text: string) => void;
}

export interface ApprovalParts {
  /** Of the profile alone. */
  profileRule(): Promise<ApprovalRule>;
  /** Of the profile and the account: what either holds is held. */
  rule(): Promise<ApprovalRule>;
  /** Those of the account in a shared journal, else those of the profile. Throws `guarded` where nobody is named. */
  approvers(): Promise<readonly Approver[]>;
  /** Those whom an admin of the account has removed; who is in the file of the profile no more is not known. */
  removed(): Promise<readonly Approver[]>;
  /** The account of a shared journal; undefined for the journal of this machine. */
  account(): Promise<ApprovingAccount | undefined>;
  /** What a request calls the account that a plan is for. */
  accountOf(plan: Pick<PlanRecord, 'profile'>): Promise<string>;
  requester(): Promise<Requester>;
  /** Throws `guarded` for a store in which no op can be held. */
  requests(): Promise<PendingRequests>;
  /**
   * ms UTC: the clock of a shared journal; of this machine never before what its journal has written since. A clock that is
   * set back makes no request young.
   */
  now(since: number): Promise<number>;
  /** Those of `--approval`. */
  given(): Promise<readonly GivenApproval[]>;
  /** Place of the key of this machine. */
  readonly keyFile: string;
  keyText(): Promise<string | undefined>;
}

/** What the gate works with. */
export interface ApprovalContext extends ApprovalDependencies {
  readonly parts: ApprovalParts;
}

export interface Requester {
  readonly requested_by: string;
  readonly requester_key?: string;
}

export function approvalParts({ host, globals, opened, store, notice }: ApprovalDependencies): ApprovalParts {
  const keyFile = join(host.folders.config, 'approval-key.json');
  const files = { platform: host.platform, random: host.noise, warn: (text: string) => notice(`warning: ${text}`) };
  const keyText = () => readPrivate(keyFile, files);
  const account = async () => (await store()).requests?.account;
  const profileRule = async () => ruleOfProfile(await opened.settings());
  return {
    profileRule,
    account,
    async rule() {
      const [own, shared] = [await profileRule(), await (await account())?.standing()];
      return shared === undefined ? own : stricter(own, shared.rule);
    },
    accountOf: async ({ profile }) => (await (await account())?.name()) ?? profile,
    async approvers() {
      const shared = await (await account())?.standing();
      if (shared !== undefined) return shared.approvers.filter(({ removedAt }) => removedAt === undefined);
      const { approvers_file: path } = await opened.settings();
      if (path === undefined) throw nobodyNamed((await opened.identity()).profile);
      return readApprovers(await host.readFile(path), path);
    },
    async removed() {
      const shared = await (await account())?.standing();
      return shared?.approvers.filter(({ removedAt }) => removedAt !== undefined) ?? [];
    },
    async requester() {
      const text = await keyText();
      const own = text === undefined ? {} : { requester_key: readKeyFile(text, keyFile).keyid };
      const inAccount = await (await account())?.requester();
      return { requested_by: inAccount ?? `${host.user}@${host.machine}`, ...own };
    },
    async requests() {
      const { requests } = await store();
      if (requests === undefined) throw notInShared();
      return requests;
    },
    async now(since) {
      const shared = await (await account())?.standing();
      return shared?.now ?? Math.max(host.clock.now(), await latestIn(await store(), since));
    },
    given: () =>
      Promise.all(
        globals.approval.map(async path => ({ name: path, text: await host.readFile(resolve(host.cwd, path)) })),
      ),
    keyFile,
    keyText,
  };
}

/** The latest time that any op of the journal tells, of those written since then. */
async function latestIn(store: OpStore, since: number): Promise<number> {
  let latest = 0;
  for await (const head of store.heads({ writtenSince: since })) {
    const [plan, end] = [await head.plan(), await head.end()];
    latest = Math.max(latest, plan?.at ?? 0, end?.at ?? 0);
  }
  return latest;
}

function nobodyNamed(profile: string): CliError {
  return new CliError('guarded', {
    message: `profile ${profile} holds this for approval, and does not say who may approve`,
    reason: 'approvers_file',
    hint: `cardwright profiles set ${profile} approvers_file ./approvers`,
    outcome: 'not_sent',
  });
}

function notInShared(): CliError {
  return new CliError('guarded', {
    message: 'the profile holds this for approval, and approvals are kept in the journal of one machine only',
    reason: 'approvals_local',
    hint: sameCommandWith('--journal local'),
    outcome: 'not_sent',
  });
}
