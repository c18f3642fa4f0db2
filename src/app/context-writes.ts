/** What changes something: journal, audit log, spend limits, and the pipeline that holds their order. */

import type { PlannedRequest, Reader } from '../contract/service.ts';
import type { Spending } from '../core/money.ts';
import type { AfterAnswer } from '../journal/run.ts';
import { createRecorder } from '../writes/audit-record.ts';
import { type ChangeQuestion, confirmWithPerson } from '../writes/guard.ts';
import { createPipeline } from '../writes/pipeline.ts';
import { createWriter } from '../writes/single-write.ts';
import { type Connections, once } from './connections.ts';
import type { Opening, RunLimits } from './context.ts';
import type { RunTerminal } from './terminal.ts';

interface WriteParts {
  readonly opened: Connections;
  readonly terminal: RunTerminal;
  readonly reader: () => Promise<Reader>;
  readonly limits: RunLimits;
}

/** Everything a write goes through; nothing is opened yet. */
export function contextWrites(opening: Opening, parts: WriteParts) {
  const { host, globals } = opening;
  const { opened, terminal, reader, limits } = parts;
  const { notice, warn, prompts, canAsk } = terminal;
  const confirm = async (question: string) =>
    canAsk && prompts.confirm(question, { flag: 'cardwright journal init --key' });
  const local = once(async () => (await import('./journal.ts')).localDatabase({ host, opened, notice }));
  const around = { host, globals, opened, notice, local, keys: opening.keys, waiting: terminal.waiting, confirm };
  const planned: PlannedRequest[] = [];
  const ops: string[] = [];
  const settings = {
    identity: opened.identity,
    service: opened.service,
    reader,
    prompts,
    canAsk,
    yes: globals.yes,
    dryRun: globals.dryRun,
    live: globals.live,
    signal: host.signal,
    clock: host.clock,
    random: host.random,
  };
  const afterAnswer: AfterAnswer[] = [];
  const place = once(async () => (await import('./journal.ts')).placeFor(around));
  const journal = once(async () => {
    const { journalFor } = await import('./journal.ts');
    const keep = (work: AfterAnswer) => void afterAnswer.push(work);
    const { rulesFor } = await import('./approvals.ts');
    const found = await place();
    const rules = rulesFor({ host, opened, limits, place: found, notice });
    return journalFor({ host, globals, opened, notice, place: found, rules, afterAnswer: keep });
  });
  const approvals = once(async () => {
    const { approvalsFor } = await import('./approvals.ts');
    return approvalsFor({ host, opened, limits, place: await place(), notice });
  });
  const admin = once(async () => {
    const { journalAdmin: adminOf } = await import('./journal-admin.ts');
    return adminOf({ ...around, place, reader, audit, approvers: async () => (await approvals()).approvers() });
  });
  const audit = once(async () => {
    const { auditLog } = await import('../audit/log.ts');
    const { path, open, existing } = await local();
    return auditLog({
      path,
      database: open,
      existing,
      clock: host.clock,
      pid: host.pid,
      user: host.user,
      host: host.machine,
    });
  });
  const recorder = createRecorder({ audit, identity: opened.identity, warn });
  const gate = once(async () => {
    const { cardReveal } = await import('./reveal.ts');
    return cardReveal({ host, globals, terminal, opened, reader, limits, recorder, audit });
  });
  const readOnly = async () => (await limits.strictest()).read_only?.source;
  const checkSpending = async (spending: Spending) => {
    const { overLimit } = await import('../limits/limits.ts');
    const refused = overLimit(await limits.strictest(), spending);
    if (refused !== undefined) throw refused;
  };
  const pipeline = createPipeline({ ...settings, recorder, checkSpending, readOnly });
  const writer = createWriter({ ...settings, notice, pipeline, journal, planned, onOp: op => void ops.push(op) });
  return {
    journal: { open: journal, approvals, admin, audit, pipeline, recorder, planned, ops },
    write: writer.write,
    ask: (question: ChangeQuestion) => confirmWithPerson(settings, question),
    confirmCount: writer.confirmCount,
    /** What may show card details; opened when they are first asked for. */
    gate,
    /** Work that the answer does not wait for. */
    afterAnswer: afterAnswer as readonly AfterAnswer[],
  };
}
