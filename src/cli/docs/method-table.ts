/** The methods of `startSandbox()` as a Markdown table, for docs/testing.md. */
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';

/** A row for each method, in the order of the contract's rows. */
export function methodTable(): string {
  const groups = [...adminMethodsByGroup()].filter(([group]) => group !== undefined);
  const methods = [...groups.flatMap(([, each]) => each), ...(adminMethodsByGroup().get(undefined) ?? [])];
  return ['| method of `sandbox` | what it does |', '|---|---|', ...methods.map(rowOf)].join('\n');
}

function rowOf({ group, name, row }: AdminMethod): string {
  const { params, query, body } = row;
  const fields = Object.entries({ ...params, ...query, ...body });
  const names = fields.map(([field, { must }]) => (must ? field : `${field}?`));
  const input = names.length === 0 ? '' : `{ ${names.join(', ')} }`;
  return `| \`${group === undefined ? name : `${group}.${name}`}(${input})\` | ${row.summary} |`;
}
