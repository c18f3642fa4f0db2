/** What is told of a plan that waits for its approvals, and the request as a file. */
import { resolve } from 'node:path';
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { createPrivate, systemCode } from '../files/private-files.ts';
import type { Counted } from '../journal/approvals/counted.ts';
import { type ApprovalPayload, type PlannedItem, readPayload } from '../journal/approvals/payload.ts';
import { requestFile } from '../journal/approvals/request-file.ts';
import { shownRequest } from '../journal/approvals/shown-request.ts';
import type { History } from '../journal/wal/replay.ts';
import type { ApprovalContext } from './approval-parts.ts';

/** A rule that asks for more now applies to what was asked for before. */
export async function neededFor({ parts }: ApprovalContext, { needed }: ApprovalPayload): Promise<number> {
  return Math.max(needed, (await parts.rule()).needed);
}

/** What a command ends with whose plan waits; writes the request where `--approval-out` says. */
export async function pendingError(
  around: ApprovalContext,
  { plan, rows }: History,
  { approvals, removed }: Counted,
): Promise<CliError> {
  const bytes = Buffer.from(plan.approval ?? '');
  const payload = readPayload(bytes);
  const needed = await neededFor(around, payload);
  const items = [...rows.values()].map(({ item }) => item);
  const { path, notes: written } = await writeRequest(around, requestFile({ bytes, items: items.map(plannedItem) }));
  const isShared = (await around.parts.account()) !== undefined;
  const { command, hint, next } = approvingCommands(payload.id, { path, isShared });
  const have = approvals.length;
  const together =
    needed > 1 && (path !== undefined || !isShared || around.globals.approval.length > 0) ? [TOGETHER] : [];
  const who = payload.requested_by;
  const until =
    needed === 1 ? `somebody other than ${who} approves it` : `${needed} persons other than ${who} approve it`;
  const known = have === 0 ? 'nobody has' : `${have} ${have === 1 ? 'has' : 'have'}`;
  return new CliError('pending_approval', {
    message: `${plan.op} is held until ${until}; ${known}`,
    notes: [
      payload.rule,
      `The request stands until ${payload.expires_at}.`,
      ...written,
      ...next,
      ...together,
      ...removed.map(noLonger),
    ],
    reason: 'approval',
    hint,
    outcome: 'not_sent',
    op: plan.op,
    approval: {
      id: payload.id,
      needed,
      have,
      expires_at: payload.expires_at,
      command,
      payload: bytes.toString('base64'),
      render: shownRequest(payload),
    },
  });
}

interface ApprovingCommands {
  /** What an approver runs. */
  readonly command: string;
  /** What is run next, by whoever asks or by an approver. */
  readonly hint: string;
  readonly next: readonly string[];
}

/** The journal of one machine is out of reach of an approver elsewhere: he is handed a file. */
function approvingCommands(
  id: string,
  { path, isShared }: { readonly path: string | undefined; readonly isShared: boolean },
): ApprovingCommands {
  const approve = 'cardwright approvals approve';
  if (path === undefined && isShared) return { command: `${approve} ${id}`, hint: `${approve} ${id}`, next: [OTHERS] };
  const command = `${approve} --file ${shellWord(path ?? `${id}.request.json`)}`;
  if (path !== undefined) return { command, hint: command, next: [OTHERS] };
  const hint = `cardwright approvals show ${id} --out ${id}.request.json`;
  return { command, hint, next: [`Write the request to a file first. Then an approver: ${command}`] };
}

const noLonger = (person: string) => `The approval of ${person} counts no longer: an admin has removed that approver.`;
const TOGETHER =
  'Files of several persons are given together, separated by commas: --approval ana.approval.json,bo.approval.json';
const OTHERS = 'Another person runs that: who asks for an operation cannot approve it.';

function plannedItem({ row, operation, method, path, body, key }: PlannedItem): PlannedItem {
  return { row, operation, method, path, body, key };
}

interface WrittenRequest {
  /** Undefined where it was not written. */
  readonly path?: string;
  readonly notes: readonly string[];
}

/** What is held is held: a file that cannot be written is no error of it. */
async function writeRequest({ host, globals }: ApprovalContext, text: string): Promise<WrittenRequest> {
  const { approvalOut: path } = globals;
  if (path === undefined) return { notes: [] };
  try {
    await createPrivate(resolve(host.cwd, path), text);
    return { path, notes: [`The request was written to ${path}.`] };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'there is a file of that name' : code;
    const note = `The request was not written to ${shellWord(path)}: ${why}. approvals show writes it as well, with --out.`;
    return { notes: [note] };
  }
}
