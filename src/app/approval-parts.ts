/** What requests and approvals of a run are judged by: rule, approvers, requester, time. */

import { join, resolve } from 'node:path';
import type { Globals } from '../cli/parsing/globals.ts';
import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { sameCommandWith } from '../core/same-command.ts';
import { readPrivate } from '../files/private-files.ts';
import { type Approver, readApprovers } from '../journal/approvals/approvers.ts';
import type { GivenApproval } from '../journal/approvals/counted.ts';
import { type ApprovalRule, ruleOfProfile } from '../journal/approvals/rule.ts';
import { readKeyFile } from '../journal/approvals/signing-key.ts';
import type { OpStore, PendingRequests } from '../journal/store/op-store.ts';
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
  rule(): Promise<ApprovalRule>;
  /** Throws `guarded` where nobody is named. */
  approvers(): Promise<readonly Approver[]>;
  requester(): Promise<Requester>;
  /** Throws `guarded` for a store in which no op can be held. */
  requests(): Promise<PendingRequests>;
  /** ms UTC, and never before what the journal has written since: a clock that is set back makes no request young. */
  now(since: number): Promise<number>;
  /** Those of `--approval`. */
  given(): Promise<readonly GivenApproval[]>;
  /** Place of the key of this machine. */
  readonly keyFile: string;
  keyText(): Promise<string | undefined>;
}

export interface Requester {
  readonly requested_by: string;
  readonly requester_key?: string;
}

export function approvalParts({ host, globals, opened, store, notice }: ApprovalDependencies): ApprovalParts {
  const keyFile = join(host.folders.config, 'approval-key.json');
  const files = { platform: host.platform, random: host.noise, warn: (text: string) => notice(`warning: ${text}`) };
  const keyText = () => readPrivate(keyFile, files);
  return {
    rule: async () => ruleOfProfile(await opened.settings()),
    async approvers() {
      const { approvers_file: path } = await opened.settings();
      if (path === undefined) throw nobodyNamed((await opened.identity()).profile);
      return readApprovers(await host.readFile(path), path);
    },
    async requester() {
      const text = await keyText();
      const own = text === undefined ? {} : { requester_key: readKeyFile(text, keyFile).keyid };
      return { requested_by: `${host.user}@${host.machine}`, ...own };
    },
    async requests() {
      const { requests } = await store();
      if (requests === undefined) throw notInShared();
      return requests;
    },
    now: async since => Math.max(host.clock.now(), await latestIn(await store(), since)),
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
