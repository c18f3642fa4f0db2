/** Paths of routes and of requests, compared as a service would take them. */
import type { OperationName } from './calls.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import type { Overrides } from './overrides.ts';

/** What is wrong with a path below the base address; undefined when a request may carry it. */
export function pathProblem(path: string): string | undefined {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#?]/.test(path)) return 'must begin with / and hold no query';
  for (const segment of path.split('/')) {
    const text = decodedSegment(segment);
    if (text === undefined) return 'is not percent-encoded as it should be';
    if (text === '.' || text === '..' || /[/\\]/.test(text)) return 'leads out of the base address';
  }
  return undefined;
}

/** Undefined for a segment that is not percent-encoded as it should be. */
function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The parameters that a template has and a path fills; undefined when the path is another one. */
function paramsOf(
  template: string,
  path: string,
  fold: (text: string) => string = text => text,
): Record<string, string> | undefined {
  const wanted = segments(template);
  const given = segments(path);
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const written = given[index] ?? '';
    const value = decodedSegment(written) ?? written;
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) params[name] = value;
    else if (fold(segment) !== fold(value)) return undefined;
  }
  return params;
}

/** Whether some request fits both templates; a parameter may stand for anything, and case does not tell them apart. */
export function mayMeet(one: string, other: string): boolean {
  const [mine, theirs] = [segments(one), segments(other)];
  if (mine.length !== theirs.length) return false;
  return mine.every((segment, index) => {
    const against = theirs[index] ?? '';
    return segment.includes('{') || against.includes('{') || folded(segment) === folded(against);
  });
}

function folded(segment: string): string {
  return (decodedSegment(segment) ?? segment).toLowerCase();
}

/** Empty ones do not count. */
function segments(path: string): string[] {
  return path.split('/').filter(part => part !== '');
}

// Which operation a method and a path mean, by the rows and what the profile overrides: a change has the same guards however it
// is asked for.

type Members = Readonly<Record<string, unknown>>;

/** Its path is without the query. */
type RawRequest = Readonly<Record<'method' | 'path', string>> & { readonly body: Members | undefined };

export interface Matched {
  readonly operation: OperationName;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Members of the body the caller gave; those an override fixes are left out, for they are sent anyway. */
  readonly body: Members;
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

function candidates(overrides: Overrides) {
  return Object.entries(OPERATIONS).map(([name, row]) => ({
    name: name as OperationName,
    row: row as Operation,
    override: overrides.operations[name] ?? {},
  }));
}
