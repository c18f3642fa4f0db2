/** Operations that wait for persons: what a claim asks, who may approve, and the key that signs. */
import { join } from 'node:path';
import { createKey, openKey, readPublicKey } from '../approvals/keys.ts';
import {
  type Approver,
  approverLine,
  readApproverLine,
  shownRequest,
  signRequest,
  visible,
} from '../approvals/request.ts';
import type { ValueOf } from '../contract/field.ts';
import { tells } from '../contract/own-field.ts';
import { type CliError, notSent, usage } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import { createPrivate, preparePrivateFolder, readPrivate, systemCode } from '../files/private-files.ts';
import { unknownOp } from '../journal/changes.ts';
import { detail } from '../journal/ops.ts';
import { type ApprovalState, approvalState, approversOf, keepApproval, pendingOp, rejectOp } from '../journal/rules.ts';
import { type JournalPlace, rulesSettings, selfFor } from './journal.ts';
import type { Run } from './run.ts';

/** The key that this user approves with. */
export const OWN_KEY = {
  person: tells.text('The person; of a shared journal the login role.'),
  keyid: tells.text('First digits of the digest of its public part.'),
  line: tells.text('The line that makes it an approver.'),
  place: tells.text('Where it lies: a path, or keychain.'),
  listed: tells.yes('Whether it may approve in the journal of this run.'),
} as const;
export type OwnKey = ValueOf<typeof OWN_KEY>;

/** Changes that are shown one by one before a person approves. */
const MOST_SHOWN = 20;
const KEYCHAIN_ENTRY = 'approval-key';

/** Operations that wait for persons, and the key of this user. */
export function approvalsFor(run: Run, place: JournalPlace) {
  const { host, files } = run;
  const settings = rulesSettings(run, place);
  const keyPath = join(host.folders.config, 'approval-key.json');
  const person = place.user ?? host.user;

  /** The key of this user; undefined where there is none. */
  async function kept() {
    const text = await readPrivate(keyPath, files);
    if (text !== undefined) return { text, where: keyPath };
    const keychain = await host.keychain();
    const found = (await keychain.problem()) === undefined ? await keychain.read(KEYCHAIN_ENTRY) : undefined;
    return found && { text: found.expose(), where: 'keychain' };
  }

  async function needed() {
    const found = await kept();
    if (found === undefined)
      throw usage('there is no approval key of this user on this machine', 'cardwright ops keys create');
    return found;
  }

  async function ownKey(): Promise<OwnKey> {
    const { text, where } = await needed();
    const { publicKey, keyid } = readPublicKey(text, where);
    const listed = (await approvers()).find(each => each.keyid === keyid);
    const named = listed?.person ?? person;
    return {
      ...{ person: named, keyid, place: where },
      line: approverLine(named, publicKey),
      listed: listed !== undefined,
    };
  }

  async function approvers(): Promise<readonly Approver[]> {
    const database = await place.existing();
    if (database === undefined) return (await settings.approvers()) ?? [];
    // Of a journal that does not list the key yet, those for all accounts.
    const account = await database.read(async tx => (await place.account?.(tx).catch(() => '')) ?? '');
    return database.read(tx => approversOf(tx, account, settings));
  }

  async function stateOf(op: string): Promise<ApprovalState> {
    const database = await place.existing();
    if (database === undefined) throw unknownOp(op);
    return database.read(async tx => approvalState(tx, await pendingOp(tx, op), settings));
  }

  return {
    /** Throws `usage` for an op that waits for nobody, `check_failed` where the journal was changed by something else. */
    review: async (op: string) => heldRequest(await stateOf(op)),
    /** Signs what was reviewed. `passphrase` is asked when there is a key. Throws `guarded` where it would not count. */
    async approve(op: string, passphrase: () => Promise<Secret>) {
      const { text } = await stateOf(op);
      const own = await needed();
      const key = openKey(own.text, own.where, await passphrase(), host.scrypt);
      return heldRequest(await keepApproval(await place.open(), op, signRequest(text, key), settings));
    },
    async reject(op: string, reason: string) {
      const database = await place.existing();
      if (database === undefined) throw unknownOp(op);
      const self = selfFor(host, place);
      await rejectOp(await place.open(), op, { who: self.holder, reason });
      return detail(database, self, op);
    },
    async createKey(passphrase: Secret, where: 'file' | 'keychain') {
      if ((await kept()) !== undefined) throw keyIsThere();
      const text = createKey(passphrase, { random: count => host.random.bytes(count), scrypt: host.scrypt });
      if (where === 'keychain') {
        const problem = await (await host.keychain()).write(KEYCHAIN_ENTRY, new Secret(text));
        if (problem !== undefined)
          throw notSent('guarded', `the key was not made: ${problem}`, 'cardwright ops keys create');
      } else {
        await preparePrivateFolder(host.folders.config, files);
        await createPrivate(keyPath, text).catch((error: unknown) => {
          throw systemCode(error) === 'EEXIST' ? keyIsThere() : error;
        });
      }
      if (place.user === undefined) await listHere(approverLine(person, readPublicKey(text, where).publicKey));
      return ownKey();
    },
    /** Throws `usage` where there is none. */
    ownKey,
    approvers,
  };

  /** In the journal of one machine whoever makes a key at its terminal may approve. */
  async function listHere(line: string): Promise<void> {
    const approver = readApproverLine(line);
    if (approver === undefined) return;
    const { keyid, person: name, key } = approver;
    await (await place.open()).transaction(async tx => {
      const columns = ['account', 'keyid', 'person', 'key', 'added'];
      await tx.insert('approver', columns, [['', keyid, name, Buffer.from(key).toString('base64'), await tx.now()]]);
    });
  }
}

export type HeldRequest = ReturnType<typeof heldRequest>;

/** An op that waits for persons. */
function heldRequest({ request, changes, counted, needed }: ApprovalState) {
  const shown = changes.slice(0, MOST_SHOWN).map(({ n, operation, request: text }) => {
    const { method, path, body = '' } = JSON.parse(text) as { method: string; path: string; body?: string };
    return visible(`${n} ${operation}: ${method} ${path} ${body}`.trim());
  });
  return {
    op: request.op,
    command: request.command,
    changes: request.changes,
    /** Cents. */
    total: request.total_cents,
    needed,
    /** Who has approved it. */
    persons: counted.persons,
    /** The rule that holds it, who has asked, and until when it can be approved, UTC. */
    waits: { why: request.why, requested_by: request.requested_by, expires_at: request.expires_at },
    /** Every fact that is signed: name and words. */
    facts: shownRequest(request),
    /** The first changes, as requests. */
    requests: changes.length > MOST_SHOWN ? [...shown, `and ${changes.length - MOST_SHOWN} more`] : shown,
  };
}

function keyIsThere(): CliError {
  return usage('there is an approval key already, and it is not overwritten', 'cardwright ops keys show');
}
