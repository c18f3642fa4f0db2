/** The contract as TypeScript declarations, for programs that use the client: every object and every operation. */
import type { AnyField, Shape } from './field.ts';
import { NAMED_SHAPES } from './named-shapes.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

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
  const title = NAMED_SHAPES.find(each => each.shape === shape && each.use === 'answer')?.title;
  const item = title ?? `{\n${membersOf(shape, 'answer', 3)}    }`;
  return kind === 'one' ? item : `List<${item}>`;
}

type Side = 'answer' | 'asked';

function membersOf(shape: Shape, side: Side, level: number): string {
  const indent = '  '.repeat(level);
  return Object.entries(shape)
    .map(([name, field]) => {
      const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
      const absent = field.must ? '' : side === 'answer' ? ' | null' : ' | undefined';
      return `${indent}/** ${field.doc.replaceAll('*/', '* /')} */\n${indent}readonly ${key}${field.must ? '' : '?'}: ${typeOf(field)}${absent};\n`;
    })
    .join('');
}

function typeOf(field: AnyField): string {
  switch (field.kind) {
    case 'money':
    case 'integer':
    case 'number':
      return 'number';
    case 'flag':
      return 'boolean';
    case 'list':
      return `readonly ${field.item === undefined ? 'unknown' : arrayItem(field.item)}[]`;
    case 'map':
      return 'Readonly<Record<string, string>>';
    case 'object':
      return 'Readonly<Record<string, unknown>>';
    case 'choice':
      // Words the service may add are shown as they are.
      return `${(field.choices ?? []).map(each => `'${each}'`).join(' | ')} | (string & {})`;
    default:
      return 'string';
  }
}

function arrayItem(field: AnyField): string {
  const type = typeOf(field);
  return type.includes('|') ? `(${type})` : type;
}
