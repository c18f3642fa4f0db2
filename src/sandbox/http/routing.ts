/** From method and path to the row of the contract; routes are derived from the tables, nothing is typed twice. */
import type { AnyField, Shape } from '../../contract/field.ts';
import type { Method, Operation } from '../../contract/operation.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { TRANSFERS } from '../../contract/sandbox/snapshots.ts';

/** Path of the service below the origin; the base address ends in it. */
export const SERVICE_PATH = '/v1';

export interface Route {
  readonly surface: 'service' | 'admin';
  readonly name: string;
  readonly row: Operation;
  readonly segments: readonly string[];
}

export type Found =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'method'; readonly allowed: readonly string[] }
  | { readonly kind: 'nothing' };

/** Routes some dialect has in place of those of the contract. */
export type OtherPaths = Readonly<Record<string, { readonly method?: Method; readonly path: `/${string}` }>>;

/** Routes in the order in which they are tried. */
interface Surface {
  readonly all: readonly Route[];
  /** Those found without looking: by method and path, where no part of the path is a value. */
  readonly plain: ReadonlyMap<string, Found>;
}

export type Routes = Readonly<Record<Route['surface'], Surface>>;

export function routesOf(others: OtherPaths = {}): Routes {
  let admin: Surface | undefined;
  return {
    service: surfaceWith(
      Object.entries(OPERATIONS).map(([name, row]) => route('service', name, { ...row, ...others[name] })),
    ),
    // Made when it is asked: most commands speak to the service alone.
    get admin() {
      const rows = { ...ADMIN_OPERATIONS, ...TRANSFERS };
      admin ??= surfaceWith(Object.entries(rows).map(([name, row]) => route('admin', name, row)));
      return admin;
    },
  };
}

function surfaceWith(all: readonly Route[]): Surface {
  const plain = all.filter(({ segments }) => !segments.some(segment => segment.startsWith('{')));
  const found = plain.map(({ row: { method }, segments }): [string, Found] => {
    const path = segments.join('/');
    return [`${method} ${path}`, searched(all, method, path)];
  });
  return { all, plain: new Map(found) };
}

function route(surface: Route['surface'], name: string, row: Operation): Route {
  const base = surface === 'admin' ? ADMIN_PATH : SERVICE_PATH;
  return { surface, name, row, segments: `${base}${row.path}`.split('/') };
}

/** Which surface a path belongs to, for the choice of the credential. */
export function surfaceOf(path: string): Route['surface'] {
  return path.startsWith(`${ADMIN_PATH}/`) ? 'admin' : 'service';
}

/** Finds the route of a path without its query. */
export function findRoute(routes: Routes, method: string, path: string): Found {
  const { all, plain } = routes[surfaceOf(path)];
  return plain.get(`${method} ${path}`) ?? searched(all, method, path);
}

function searched(routes: readonly Route[], method: string, path: string): Found {
  const given = path.split('/');
  const allowed: string[] = [];
  for (const candidate of routes) {
    const params = matched(candidate.segments, given);
    if (params === undefined) continue;
    if (candidate.row.method === method) return { kind: 'route', route: candidate, params };
    allowed.push(candidate.row.method);
  }
  return allowed.length > 0 ? { kind: 'method', allowed } : { kind: 'nothing' };
}

function matched(wanted: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const part = given[index] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== part) return undefined;
      continue;
    }
    const value = decoded(part);
    if (value === undefined || value === '') return undefined;
    params[segment.slice(1, -1)] = value;
  }
  return params;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Values of the query the row knows, in the types of its fields; unknown names are ignored. */
export function queryValues(shape: Shape, text: string): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (text === '') return values;
  const query = new URLSearchParams(text);
  for (const [name, field] of Object.entries(shape)) {
    const given = query.get(name);
    if (given !== null) values[name] = typed(field, given);
  }
  return values;
}

/** Text that is no number stays text, and is then refused by the check of the shape. */
function typed(field: AnyField, text: string): unknown {
  const isNumber = (field.kind === 'integer' || field.kind === 'number') && /^-?\d{1,15}$/.test(text);
  return isNumber ? Number(text) : text;
}
