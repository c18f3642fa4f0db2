/** faults, faults.get, .add, .remove, .clear */
import { type FaultRule, faultProblem, isDeliveryKind } from '../../contract/sandbox/fault-rule.ts';
import { type AdminHandlers, type Call, Refused } from '../calls/handler.ts';
import { instantOf, isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { nextCount } from '../store/counters.ts';
import {
  allFaults,
  deleteAllFaults,
  deleteFault,
  type FaultRow,
  faultById,
  insertFault,
} from '../store/fault-rules.ts';

export const listFaults: MomentHandler<'faults'> = async ({ sql, account, now }) => {
  const rows = await allFaults(sql, account);
  return { data: rows.map(row => shown(row, now)), page: {} };
};

export const getFault: MomentHandler<'faults.get'> = async (moment, input) =>
  shown(await faultOf(moment, input), moment.now);

/** Throws `invalid_request` naming the member that is wrong. */
export const addFault: AdminHandlers['faults.add'] = async ({ sql, account, now, idSource, input }) => {
  const problem = faultProblem(input);
  if (problem !== undefined) throw new Refused('invalid_request', `${problem.field} ${problem.text}`);
  const rule = input as unknown as FaultRule;
  const row: FaultRow = {
    id: await idSource.id('flt'),
    position: await nextCount(sql, account, 'fault position'),
    meets: isDeliveryKind(rule.action.kind) ? 'deliveries' : 'requests',
    rule: JSON.stringify(rule),
    times: rule.times ?? null,
    seen: 0,
    struck: 0,
    expires_at: rule.expires_at === undefined ? null : instantOf(rule.expires_at),
    created_at: now,
  };
  await insertFault(sql, account, row);
  return shown(row, now);
};

export const removeFault: AdminHandlers['faults.remove'] = async call => {
  const { id } = await faultOf(call, call.input);
  await deleteFault(call.sql, call.account, id);
  return {};
};

export const clearFaults: AdminHandlers['faults.clear'] = async ({ sql, account }) => ({
  removed: await deleteAllFaults(sql, account),
});

async function faultOf({ sql, account }: Pick<Call, 'sql' | 'account'>, { fault_id }: { readonly fault_id: string }) {
  const row = await faultById(sql, account, fault_id);
  if (row === undefined) throw new Refused('not_found', `no fault rule ${fault_id}`);
  return row;
}

function shown({ id, meets, times, seen, struck, expires_at, created_at, rule: text }: FaultRow, now: number) {
  const { match = {}, phase = 'before', action } = JSON.parse(text) as FaultRule;
  return {
    id,
    active: (times === null || struck < times) && (expires_at === null || expires_at > now),
    match,
    phase: meets === 'deliveries' ? null : phase,
    action,
    times,
    seen,
    struck,
    expires_at: expires_at === null ? null : isoTime(expires_at),
    created_at: isoTime(created_at),
  };
}
