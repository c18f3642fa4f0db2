/**
 * The contract as TypeScript declarations: every object and every operation, for programs that use the client; and the control
 * surface as the typed methods of `startSandbox()`, both as the package ships them.
 */
import type { AnyField, Shape } from '../field.ts';
import { NAMED_SHAPES, namedShape } from '../named-shapes.ts';
import type { Operation } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { PAGE_META } from '../resources.ts';
import { ADMIN_OPERATIONS, type AdminName, START_OPTIONS } from '../sandbox/admin.ts';
import { DIALECT_NAMES, FAULT, FAULT_BODY, FAULT_SHAPES } from '../sandbox/faults.ts';
import { type AdminMethod, adminMethodsByGroup } from '../sandbox/methods.ts';

/**
 * How a set of declarations is written. `answer`: what a service answers, where a member that need not be there may be null too,
 * and words may come that are not in the row. `asked`: what a caller hands it. `exact`: what our own sandbox answers, where only
 * what the row calls nullable is null. `given`: what is handed to that.
 */
type TypeStyle = 'answer' | 'asked' | 'exact' | 'given';

/** Interfaces of the answers, and `Operations` with the input and the result of each operation. */
export function contractTypes(): string {
  const named = NAMED_SHAPES.filter(({ use, title }) => use === 'answer' && title !== undefined);
  const answers = named.map(
    ({ title = '', shape, section }) =>
      `/** Interface ${section}. Fields the service adds are kept beside these. */\nexport interface ${title} {\n${membersOf(shape, 'answer', 1)}}\n`,
  );
  const operations = Object.entries(OPERATIONS).map(([name, row]) => operationType(name, row as Operation));
  return `${answers.join('\n')}\n/** Amounts are USD with at most two decimals, times ISO 8601 UTC. */\nexport interface Operations {\n${operations.join('')}}\n`;
}

function operationType(name: string, row: Operation): string {
  const asked = [row.params, row.query, row.body].map(shape => membersOf(shape ?? {}, 'asked', 3)).join('');
  const input = asked === '' ? '{}' : `{\n${asked}    }`;
  return `  /** ${row.summary}. */\n  '${name}': {\n    input: ${input};\n    result: ${resultType(row)};\n  };\n`;
}

function resultType({ returns: { kind, shape } }: Operation): string {
  if (kind === 'none') return 'undefined';
  const title = namedShape(shape)?.title;
  const item = title ?? `{\n${membersOf(shape, 'answer', 3)}    }`;
  return kind === 'one' ? item : `List<${item}>`;
}

/** One member a line, each below its description. */
function membersOf(shape: Shape, style: TypeStyle, level: number): string {
  const indent = '  '.repeat(level);
  return Object.entries(shape)
    .map(([name, field]) => {
      const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
      const type = typeOf(field, style, level) + absenceOf(field, style);
      return `${indent}/** ${described(field, style)} */\n${indent}readonly ${key}${field.must ? '' : '?'}: ${type};\n`;
    })
    .join('');
}

/** Text that ends no comment. */
const commentText = (text: string) => text.replaceAll('*/', '* /');

function described({ doc, defaults }: AnyField, style: TypeStyle): string {
  const text =
    (style === 'asked' || style === 'given') && defaults !== undefined ? `${doc} Default: ${defaults}.` : doc;
  return commentText(text);
}

function absenceOf({ must, nullable }: AnyField, style: TypeStyle): string {
  if (nullable) return ' | null';
  if (must || style === 'exact') return '';
  return style === 'answer' ? ' | null' : ' | undefined';
}

function typeOf(field: AnyField, style: TypeStyle, level: number): string {
  const title = TITLE_OF_FIELD.get(field);
  if (title !== undefined) return title;
  switch (field.kind) {
    case 'money':
    case 'integer':
    case 'number':
      return 'number';
    case 'flag':
      return 'boolean';
    case 'list':
      return `readonly ${field.item === undefined ? 'unknown' : itemType(field.item, style, level)}[]`;
    case 'map':
      return 'Readonly<Record<string, string>>';
    case 'object':
      return objectType(field.shape ?? {}, style, level);
    case 'choice':
      return wordType(field.choices ?? [], style);
    default:
      return 'string';
  }
}

/** An object of these fields. */
function objectType(shape: Shape, style: TypeStyle, level: number): string {
  if (Object.keys(shape).length === 0) return 'Readonly<Record<string, unknown>>';
  return `{\n${membersOf(shape, style, level + 1)}${'  '.repeat(level)}}`;
}

function wordType(choices: readonly string[], style: TypeStyle): string {
  const words = choices.map(each => `'${each}'`).join(' | ');
  return style === 'answer' || style === 'asked' ? `${words} | (string & {})` : words;
}

function itemType(field: AnyField, style: TypeStyle, level: number): string {
  const type = typeOf(field, style, level);
  return field.kind === 'choice' ? `(${type})` : type;
}

// The sandbox.

/** Names of the answers that programs speak of, each by an operation that answers with it. */
const TITLES = {
  'simulate.authorize': 'SandboxSimulated',
  'clock.show': 'SandboxClock',
  deposits: 'SandboxDeposit',
  events: 'SandboxEvent',
  'ledger.entries': 'SandboxLedgerEntry',
  deliveries: 'SandboxDelivery',
  faults: 'SandboxFault',
  requests: 'SandboxRequest',
  snapshots: 'SandboxSnapshot',
  'snapshots.restore': 'SandboxRestored',
  'dialect.show': 'SandboxDialectFacts',
} as const satisfies Partial<Record<AdminName, string>>;

const TITLE_OF_SHAPE: ReadonlyMap<Shape, string> = new Map(
  Object.entries(TITLES).map(([name, title]) => [ADMIN_OPERATIONS[name as AdminName].returns.shape, title]),
);

/** What has a type of its own: parts of a fault rule, whose members differ by kind, and options that say more than a field does. */
const TITLE_OF_FIELD: ReadonlyMap<AnyField, string> = new Map<AnyField, string>([
  [FAULT_BODY.match, 'SandboxFaultMatch'],
  [FAULT.match, 'SandboxFaultMatch'],
  [FAULT_BODY.action, 'SandboxFaultAction'],
  [FAULT.action, 'SandboxFaultAction'],
  [START_OPTIONS.store, "'memory' | (string & {})"],
  [START_OPTIONS.dialect, 'SandboxDialect'],
  [START_OPTIONS.clock, "{ readonly mode: 'real' } | { readonly mode: 'frozen'; readonly at: string }"],
]);

/** Adds to `SandboxOptions` and `RunningSandbox` of library-types.ts, in whose file this text stands. */
export function sandboxMethodTypes(): string {
  return [optionTypes(), pageType(), ...[...TITLE_OF_SHAPE].map(answerType), faultTypes(), ...methodTypes()].join('\n');
}

function optionTypes(): string {
  const names = DIALECT_NAMES.map(name => `\n  | '${name}'`).join('');
  // Whoever makes them may change them.
  const members = membersOf(START_OPTIONS, 'given', 1).replaceAll('  readonly ', '  ');
  const about = '`default` keeps to the interface, the others answer as services of other habits do.';
  return `/** How the sandbox speaks; ${about} */\nexport type SandboxDialect =${names};\n\nexport interface SandboxOptions {\n${members}}\n`;
}

function pageType(): string {
  const members = membersOf(PAGE_META, 'exact', 2);
  return `/** One page of a list. */\nexport interface SandboxPage<Row> {\n  readonly data: readonly Row[];\n  readonly meta: {\n${members}  };\n}\n`;
}

const answerType = ([shape, title]: readonly [Shape, string]) =>
  `export interface ${title} {\n${membersOf(shape, 'exact', 1)}}\n`;

/** A rule meets requests or deliveries; its action is one of the kinds. */
function faultTypes(): string {
  const kinds = Object.entries(FAULT_SHAPES.actions).map(
    ([kind, shape]) => `  | {\n      readonly kind: '${kind}';\n${membersOf(shape, 'given', 3)}    }`,
  );
  const members = membersOf({ ...FAULT_SHAPES.requests, ...FAULT_SHAPES.deliveries }, 'given', 1);
  return `/** Which requests or deliveries a rule meets. */\nexport interface SandboxFaultMatch {\n${members}}\n\n/** What a rule does. */\nexport type SandboxFaultAction =\n${kinds.join('\n')};\n`;
}

function methodTypes(): string[] {
  const groups = adminMethodsByGroup();
  const ofGroups = [...groups].flatMap(([group, methods]) =>
    group === undefined ? [] : [`  readonly ${group}: {\n${methods.map(each => methodType(each, 2)).join('')}  };\n`],
  );
  const plain = (groups.get(undefined) ?? []).map(each => methodType(each, 1));
  const doc =
    '/**\n * The control surface, a method for each operation; the same as `admin.request` with their routes. Rejects with\n * `SandboxRefusal` when the sandbox refuses, with an `Error` whose `kind` is `usage` for an input that is none.\n */';
  return [`${doc}\nexport interface RunningSandbox {\n${[...ofGroups, ...plain].join('')}}\n`];
}

function methodType({ name, row }: AdminMethod, level: number): string {
  const indent = '  '.repeat(level);
  const route = `\`${row.method} ${row.path}\``;
  return `${indent}/** ${commentText(row.summary)}. ${route} */\n${indent}${name}(${inputType(row, level)}): Promise<${methodResult(row, level)}>;\n`;
}

/** Path parameters, query and body side by side; the whole may be left out where nothing must be there. */
function inputType({ params, query, body }: Operation, level: number): string {
  const shape = { ...params, ...query, ...body };
  if (Object.keys(shape).length === 0) return '';
  const isNeeded = Object.values(shape).some(({ must }) => must);
  return `input${isNeeded ? '' : '?'}: ${objectType(shape, 'given', level)}`;
}

function methodResult({ returns: { kind, shape } }: Operation, level: number): string {
  if (kind === 'none') return 'void';
  const item = TITLE_OF_SHAPE.get(shape) ?? objectType(shape, 'exact', level);
  if (kind === 'one') return item;
  return kind === 'page' ? `SandboxPage<${item}>` : `{ readonly data: readonly ${item}[] }`;
}
