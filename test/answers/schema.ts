/** The schemas of answers as judges, and as lines a person can compare. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { commandSchema, errorSchema } from '../../src/cli/docs/answers.ts';
import { type Command, commandsOf } from '../../src/cli/parsing/declaration.ts';
import { REGISTRY } from '../../src/commands/registry.ts';

type Schema = Readonly<Record<string, unknown>>;

export const commands: readonly Command[] = (await Promise.all(REGISTRY.map(commandsOf))).flat();

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  allowUnionTypes: true,
  validateFormats: false,
  allErrors: true,
});
ajv.addVocabulary(['x-stated', 'x-assumed', 'x-secret']);

const schemas = new Map<string, Schema>([
  ...commands.map(command => [command.path, commandSchema(command)] as const),
  ['error', errorSchema()],
]);
const judges = new Map<string, ValidateFunction>();

/** Made when it is first asked for: all of them take longer than most tests. */
export function judgeOf(path: string): ValidateFunction | undefined {
  const schema = schemas.get(path);
  const judge = judges.get(path) ?? (schema === undefined ? undefined : ajv.compile(schema));
  if (judge !== undefined) judges.set(path, judge);
  return judge;
}

/** What is wrong with an answer: what the schema objects to, and fields it does not tell of. */
export function objections(path: string, answer: unknown): readonly string[] {
  const judge = judgeOf(path);
  if (judge === undefined) return [`no schema for ${path}`];
  if (!judge(answer)) return (judge.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return untold(schemas.get(path) ?? {}, answer, '');
}

/** The command a line names. */
export function pathOf(line: string): string {
  const named = commands.filter(({ path }) => line === path || line.startsWith(`${path} `));
  return named.sort((one, other) => other.path.length - one.path.length)[0]?.path ?? '';
}

/** Fields of an answer that no branch of its schema tells of. */
function untold(schema: Schema, value: unknown, at: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(item => untold((schema['items'] ?? {}) as Schema, item, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(schema['anyOf'])) {
    const branches = (schema['anyOf'] as readonly Schema[]).map(branch => untold(branch, value, at));
    return branches.sort((one, other) => one.length - other.length)[0] ?? [];
  }
  const properties = schema['properties'] as Readonly<Record<string, Schema>> | undefined;
  // An object that is told nothing about may hold anything.
  if (properties === undefined || Object.keys(properties).length === 0) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const property = properties[name];
    return property === undefined ? [`${at}.${name} is told nowhere`] : untold(property, item, `${at}.${name}`);
  });
}

/** `cards list: .data[].balance number`: one line a field, sorted. */
export function promises(): readonly string[] {
  return [...schemas]
    .flatMap(([path, schema]) => [...new Set(fields(schema, ''))].map(line => `${path}: ${line}`))
    .sort();
}

function fields(schema: Schema, at: string): readonly string[] {
  if (Array.isArray(schema['anyOf']))
    return (schema['anyOf'] as readonly Schema[]).flatMap(branch => fields(branch, at));
  const type = schema['type'];
  const own = at === '' || type === undefined ? [] : [`${at} ${[type].flat().join(' or ')}`];
  const required = (schema['required'] ?? []) as readonly string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  const below = properties.flatMap(([name, part]) =>
    fields(part, `${at}.${name}${required.includes(name) ? '' : '?'}`),
  );
  const items = schema['items'] as Schema | undefined;
  return [...own, ...below, ...(items === undefined ? [] : fields(items, `${at}[]`))];
}
