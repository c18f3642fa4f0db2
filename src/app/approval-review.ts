/** Requests of the journal for whoever looks at them and answers, and the key of an approver. */

import { CliError } from '../core/errors.ts';
import { createPrivate, preparePrivateFolder, systemCode } from '../files/private-files.ts';
import { approverLine, isRequester } from '../journal/approvals/approvers.ts';
import { countedApprovals } from '../journal/approvals/counted.ts';
import { signEnvelope } from '../journal/approvals/envelope.ts';
import type { ApprovalPayload, PlannedItem } from '../journal/approvals/payload.ts';
import { type CheckedRequest, checkedRequest } from '../journal/approvals/request-file.ts';
import { refuseUntrue } from '../journal/approvals/request-flaw.ts';
import { opOfRequest } from '../journal/approvals/request-id.ts';
import type { ApprovalReview, RequestState, StoredRequest } from '../journal/approvals/review.ts';
import { createKeyFile, openKeyFile, readKeyFile } from '../journal/approvals/signing-key.ts';
import { readOrError } from '../journal/store/read-ops.ts';
import { notPending } from '../journal/store/refusals.ts';
import type { History } from '../journal/wal/replay.ts';
import { type ApprovalDependencies, type ApprovalParts, approvalParts } from './approval-parts.ts';

interface Around extends ApprovalDependencies {
  readonly parts: ApprovalParts;
}

export function approvalReview(surroundings: ApprovalDependencies): ApprovalReview {
  // A request may be of whichever account: of another profile, of a shared journal, of a file that somebody sent.
  surroundings.opened.aboutAllAccounts();
  const around: Around = { ...surroundings, parts: approvalParts(surroundings) };
  const { host, parts } = around;
  return {
    list: ({ all }) => listed(around, all),
    find: id => found(around, id),
    refuse: request => refuse(around, request),
    async hasApproved({ persons }) {
      const { keyid } = readKeyFile(await ownKey(parts), parts.keyFile);
      const own = (await parts.approvers().catch(nobody)).find(each => each.keyid === keyid);
      return own !== undefined && persons.includes(own.person);
    },
    async sign(request, passphrase) {
      await refuse(around, request);
      const signing = openKeyFile(await ownKey(parts), parts.keyFile, passphrase, host.scrypt);
      return signEnvelope(request.bytes, signing);
    },
    async keep({ payload, bytes }, approval) {
      const asked = { payload, bytes, approvers: await parts.approvers() };
      const [refused] = countedApprovals(asked, [{ name: 'this approval', text: approval }]).refused;
      if (refused !== undefined) throw refused;
      const record = { t: 'APPROVAL', envelope: approval, at: host.clock.now() } as const;
      await (await parts.requests()).keep(payload.op, record);
      return found(around, payload.id);
    },
    async reject(id, reason) {
      const { payload } = await found(around, id);
      const who = (await parts.requester()).requested_by;
      const record = { t: 'DENIED', why: 'rejected', note: reason, who, at: host.clock.now() } as const;
      await (await parts.requests()).deny(payload.op, record);
      return found(around, id);
    },
    async createKey(passphrase) {
      await preparePrivateFolder(host.folders.config, files(around));
      await createPrivate(
        parts.keyFile,
        createKeyFile(passphrase, { random: count => host.random.bytes(count), scrypt: host.scrypt }),
      ).catch((error: unknown) => {
        throw systemCode(error) === 'EEXIST' ? keyIsThere(parts.keyFile) : error;
      });
      return parts.keyFile;
    },
    async keyLine() {
      const { publicKey, keyid } = readKeyFile(await ownKey(parts), parts.keyFile);
      return { person: host.user, keyid, line: approverLine(host.user, publicKey) };
    },
  };
}

function files({ host, notice }: Around) {
  return { platform: host.platform, random: host.noise, warn: (text: string) => notice(`warning: ${text}`) };
}

async function listed(around: Around, all: boolean): Promise<readonly StoredRequest[]> {
  const store = await around.store();
  const requests: StoredRequest[] = [];
  for await (const head of store.heads({ unfinished: !all })) {
    if ((await head.plan())?.approval === undefined) continue;
    const history = await readOrError(store, head.op);
    if (history === undefined || history instanceof CliError) continue;
    const request = await standingOf(around, history).catch((thrown: unknown) => tellUnread(around, thrown));
    if (request === undefined) continue;
    if (all || request.state === 'pending' || request.state === 'approved') requests.push(request);
  }
  return requests.sort((one, other) => (one.payload.requested_at < other.payload.requested_at ? 1 : -1));
}

/** One that cannot be relied on hides no other. */
function tellUnread({ notice }: Around, thrown: unknown): undefined {
  if (!(thrown instanceof CliError) || thrown.kind !== 'check_failed') throw thrown;
  notice(`warning: ${thrown.facts.message}`);
}

async function found(around: Around, typed: string): Promise<StoredRequest> {
  const id = await wholeId(around, typed);
  const op = opOfRequest(id);
  const history = await readOrError(await around.store(), op);
  if (history instanceof CliError) throw history;
  if (history?.plan.approval !== undefined) {
    const request = await standingOf(around, history);
    if (history.end === undefined) refuseUntrue(request, await around.opened.overrides());
    return request;
  }
  throw new CliError('usage', {
    message: `there is no request ${id} in this journal`,
    hint: 'cardwright approvals list',
    outcome: 'not_sent',
  });
}

/** A table shows the beginning of an id where the screen is narrow. Throws `usage` where that fits several requests. */
async function wholeId(around: Around, typed: string): Promise<string> {
  const [, beginning] = /^(apr_[0-9a-z]{1,25})(?:…|\.\.\.)?$/.exec(typed) ?? [];
  if (beginning === undefined) return typed;
  const ids = (await listed(around, true)).map(({ payload }) => payload.id).filter(id => id.startsWith(beginning));
  if (ids.length <= 1) return ids[0] ?? typed;
  throw new CliError('usage', {
    message: `${JSON.stringify(typed)} fits ${ids.length} requests: write more characters of the id`,
    hint: 'cardwright approvals list -o id',
    outcome: 'not_sent',
  });
}

async function standingOf({ parts, host }: Around, history: History): Promise<StoredRequest> {
  const items = [...history.rows.values()].map(({ item }) => plannedItem(item));
  const request = checkedRequest(Buffer.from(history.plan.approval ?? ''), items);
  const approvals = await (await parts.requests()).approvals(history.plan.op);
  const approvers = await parts.approvers().catch(nobody);
  const given = approvals.map(text => ({ name: request.payload.id, text }));
  const counted = countedApprovals({ ...request, approvers }, given).approvals.map(({ person }) => person);
  const persons = history.approved?.persons ?? counted;
  const { needed } = request.payload;
  return {
    ...request,
    persons,
    needed,
    state: stateOf(history, { ...request, persons, now: await nowIn({ parts, host }) }),
  };
}

/** Whoever only looks may do so without the file of approvers: then nobody counts. */
function nobody(thrown: unknown): [] {
  if (thrown instanceof CliError && thrown.kind !== 'check_failed') return [];
  throw thrown;
}

function stateOf(
  { denied, approved, end }: History,
  { payload, persons, now }: { payload: ApprovalPayload; persons: readonly string[]; now: number },
): RequestState {
  if (denied !== undefined) return denied.why;
  if (approved !== undefined) return 'used';
  if (end !== undefined) return 'closed';
  if (now >= Date.parse(payload.expires_at)) return 'expired';
  return persons.length >= payload.needed ? 'approved' : 'pending';
}

async function refuse({ parts, host, opened }: Around, request: CheckedRequest): Promise<void> {
  const { payload } = request;
  refuseUntrue(request, await opened.overrides());
  const state = 'state' in request ? (request as StoredRequest).state : 'pending';
  if (state !== 'pending' && state !== 'approved') throw notPending(payload.op);
  if ((await nowIn({ parts, host })) >= Date.parse(payload.expires_at)) throw expired(payload);
  const [user = ''] = (await parts.requester()).requested_by.split('@');
  const text = await parts.keyText();
  // Who has asked needs no key to read that somebody else approves it.
  const { publicKey, keyid } = text === undefined ? NO_KEY : readKeyFile(text, parts.keyFile);
  const own = { person: user, key: publicKey, keyid, users: [] };
  const isStored = 'state' in request;
  if (isRequester(own, [own], payload)) throw ownRequest(payload, { user, isStored });
  await ownKey(parts);
}

const NO_KEY = { publicKey: Buffer.alloc(0), keyid: '' };

/** The clock of a shared journal, else that of this machine. */
async function nowIn({ parts, host }: Pick<Around, 'parts' | 'host'>): Promise<number> {
  return (await (await parts.account())?.standing())?.now ?? host.clock.now();
}

async function ownKey(parts: ApprovalParts): Promise<string> {
  const text = await parts.keyText();
  if (text !== undefined) return text;
  throw new CliError('usage', {
    message: `there is no approval key on this machine: ${parts.keyFile}`,
    hint: 'cardwright approvals key create',
    outcome: 'not_sent',
  });
}

function plannedItem({ row, operation, method, path, body, key }: PlannedItem): PlannedItem {
  return { row, operation, method, path, body, key };
}

function keyIsThere(path: string): CliError {
  return new CliError('usage', {
    message: `there is an approval key already, and it is not overwritten: ${path}`,
    hint: 'cardwright approvals key show',
    outcome: 'not_sent',
  });
}

function expired({ id, op, expires_at }: ApprovalPayload): CliError {
  return new CliError('guarded', {
    message: `${id} has expired: it stood until ${expires_at}`,
    reason: 'approval_expired',
    hint: `cardwright approvals show ${id}`,
    outcome: 'not_sent',
    op,
  });
}

/** Two persons who work as one user of their machines, such as root, cannot be told apart. */
function ownRequest(
  { id, op, requested_by: who }: ApprovalPayload,
  { user, isStored }: { readonly user: string; readonly isStored: boolean },
): CliError {
  const isUser = who.startsWith(`${user}@`);
  return new CliError('guarded', {
    message: `${id} was asked for by ${who}; nobody approves his own request`,
    reason: 'approval_own',
    ...(isUser && {
      notes: [
        `You work as ${user} here, as who has asked does. If you are another person, approve it as another user.`,
      ],
    }),
    hint: isStored ? `cardwright approvals show ${id}` : 'cardwright help approvals',
    outcome: 'not_sent',
    op,
  });
}
