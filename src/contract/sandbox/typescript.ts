/** The control surface as TypeScript declarations: the typed methods of `startSandbox()`, as the package ships them. */
import type { AnyField, Shape } from '../field.ts';
import type { Operation } from '../operation.ts';
import { PAGE_META } from '../resources.ts';
import { commentText, membersOf, objectType, type TypeStyle } from '../typescript.ts';
import { ADMIN_OPERATIONS, type AdminName } from './admin.ts';
import { DIALECT_NAMES, FAULT, FAULT_BODY, FAULT_SHAPES } from './faults.ts';
import { type AdminMethod, adminMethodsByGroup } from './methods.ts';
import { START_OPTIONS } from './start-options.ts';

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

const titleOf = (field: AnyField) => TITLE_OF_FIELD.get(field);
const ANSWER: TypeStyle = { side: 'exact', openWords: false, titleOf };
const ASKED: TypeStyle = { side: 'asked', openWords: false, titleOf };

/** Adds to `SandboxOptions` and `RunningSandbox` of library-types.ts, in whose file this text stands. */
export function sandboxMethodTypes(): string {
  return [optionTypes(), pageType(), ...[...TITLE_OF_SHAPE].map(answerType), faultTypes(), ...methodTypes()].join('\n');
}

function optionTypes(): string {
  const names = DIALECT_NAMES.map(name => `\n  | '${name}'`).join('');
  // Whoever makes them may change them.
  const members = membersOf(START_OPTIONS, ASKED, 1).replaceAll('  readonly ', '  ');
  const about = '`default` keeps to the interface, the others answer as services of other habits do.';
  return `/** How the sandbox speaks; ${about} */\nexport type SandboxDialect =${names};\n\nexport interface SandboxOptions {\n${members}}\n`;
}

function pageType(): string {
  const members = membersOf(PAGE_META, ANSWER, 2);
  return `/** One page of a list. */\nexport interface SandboxPage<Row> {\n  readonly data: readonly Row[];\n  readonly meta: {\n${members}  };\n}\n`;
}

const answerType = ([shape, title]: readonly [Shape, string]) =>
  `export interface ${title} {\n${membersOf(shape, ANSWER, 1)}}\n`;

/** A rule meets requests or deliveries; its action is one of the kinds. */
function faultTypes(): string {
  const kinds = Object.entries(FAULT_SHAPES.actions).map(
    ([kind, shape]) => `  | {\n      readonly kind: '${kind}';\n${membersOf(shape, ASKED, 3)}    }`,
  );
  const members = membersOf({ ...FAULT_SHAPES.requests, ...FAULT_SHAPES.deliveries }, ASKED, 1);
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
  return `${indent}/** ${commentText(row.summary)}. ${route} */\n${indent}${name}(${inputType(row, level)}): Promise<${resultType(row, level)}>;\n`;
}

/** Path parameters, query and body side by side; the whole may be left out where nothing must be there. */
function inputType({ params, query, body }: Operation, level: number): string {
  const shape = { ...params, ...query, ...body };
  if (Object.keys(shape).length === 0) return '';
  const isNeeded = Object.values(shape).some(({ must }) => must);
  return `input${isNeeded ? '' : '?'}: ${objectType(shape, ASKED, level)}`;
}

function resultType({ returns: { kind, shape } }: Operation, level: number): string {
  if (kind === 'none') return 'void';
  const item = TITLE_OF_SHAPE.get(shape) ?? objectType(shape, ANSWER, level);
  if (kind === 'one') return item;
  return kind === 'page' ? `SandboxPage<${item}>` : `{ readonly data: readonly ${item}[] }`;
}
