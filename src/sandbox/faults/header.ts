/** `X-Sandbox-Fault`: a fault for one request, `{"phase":"after_commit","action":{"kind":"reset"}}`. */
import { type OneFault, oneFaultProblem } from '../../contract/sandbox/fault-rule.ts';
import { Refused } from '../calls/handler.ts';

export const FAULT_HEADER = 'x-sandbox-fault';

/** Throws `invalid_request` naming the member that is wrong. */
export function faultInHeader(header: string | readonly string[] | undefined): OneFault | undefined {
  if (header === undefined) return undefined;
  const problem = oneFaultProblem(parsed(String(header)));
  if (problem !== undefined) throw new Refused('invalid_request', `X-Sandbox-Fault: ${problem.field} ${problem.text}`);
  return parsed(String(header)) as OneFault;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Refused('invalid_request', 'X-Sandbox-Fault: the fault is not JSON');
  }
}
