/**
 * Which operation a method and a path mean, by the rows and what the profile overrides. For requests in the caller's
 * own words: so that the same change has the same guards however it is asked for.
 */
import type { OperationName } from './calls.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import type { OperationOverride, Overrides } from './overrides.ts';
import { paramsOf } from './route.ts';

type Members = Readonly<Record<string, unknown>>;

export interface RawRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: Members | undefined;
}

export interface Matched {
  readonly operation: OperationName;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Members of the body the caller gave; those an override fixes are left out, for they are sent anyway. */
  readonly body: Members;
}

interface Candidate {
  readonly name: OperationName;
  readonly row: Operation;
  readonly override: OperationOverride;
}

/** The operation; of several that share a route the one whose fixed members stand in the body. */
export function matchOperation(asked: RawRequest, overrides: Overrides): Matched | undefined {
  for (const { name, row, override } of candidates(overrides)) {
    if (asked.method !== (override.method ?? row.method)) continue;
    const params = paramsOf(override.path ?? row.path, asked.path);
    if (params === undefined) continue;
    const fixed = Object.entries(override.body ?? {});
    const given = asked.body ?? {};
    if (!fixed.every(([key, value]) => JSON.stringify(given[key]) === JSON.stringify(value))) continue;
    const body = Object.entries(given).filter(([key]) => !fixed.some(([own]) => own === key));
    return { operation: name, params, body: Object.fromEntries(body) };
  }
  return undefined;
}

/** Whether a path, however it is written and with whatever method, is one that reveals a secret. */
export function revealsSecret(path: string, overrides: Overrides): boolean {
  return candidates(overrides).some(
    ({ row, override }) =>
      row.effect === 'reveals-secret' &&
      [row.path, override.path ?? row.path].some(
        template => paramsOf(template, path, text => text.toLowerCase()) !== undefined,
      ),
  );
}

function candidates(overrides: Overrides): readonly Candidate[] {
  return Object.entries(OPERATIONS).map(([name, row]) => ({
    name: name as OperationName,
    row,
    override: overrides.operations[name] ?? {},
  }));
}
