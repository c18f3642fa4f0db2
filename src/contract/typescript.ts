/** The contract as TypeScript declarations, for programs that use the client: every object and every operation. */

import type { AnyField, Shape } from './field.ts';
import { NAMED_SHAPES } from './named-shapes.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** Words the service may add are shown as they are. */
const ANSWER: TypeStyle = { side: 'answer', openWords: true };
const ASKED: TypeStyle = { side: 'asked', openWords: true };

/** Interfaces of the answers, and `Operations` with the input and the result of each operation. */
export function contractTypes(): string {
  const named = NAMED_SHAPES.filter(({ use, title }) => use === 'answer' && title !== undefined);
  const answers = named.map(
    ({ title = '', shape, section }) =>
      `/** Interface ${section}. Fields the service adds are kept beside these. */\nexport interface ${title} {\n${membersOf(shape, ANSWER, 1)}}\n`,
  );
  const operations = Object.entries(OPERATIONS).map(([name, row]) => operationType(name, row as Operation));
  return `${answers.join('\n')}\n/** Amounts are USD with at most two decimals, times ISO 8601 UTC. */\nexport interface Operations {\n${operations.join('')}}\n`;
}

function operationType(name: string, row: Operation): string {
  const asked = [row.params, row.query, row.body].map(shape => membersOf(shape ?? {}, ASKED, 3)).join('');
  const input = asked === '' ? '{}' : `{\n${asked}    }`;
  return `  /** ${row.summary}. */\n  '${name}': {\n    input: ${input};\n    result: ${resultType(row)};\n  };\n`;
}

function resultType({ returns: { kind, shape } }: Operation): string {
  if (kind === 'none') return 'undefined';
  const title = NAMED_SHAPES.find(each => each.shape === shape && each.use === 'answer')?.title;
  const item = title ?? `{\n${membersOf(shape, ANSWER, 3)}    }`;
  return kind === 'one' ? item : `List<${item}>`;
}

/** How a set of declarations is written. */
export interface TypeStyle {
  /**
   * `asked`: what a caller hands in. `answer`: what a service answers, where a member that need not be there may be null
   * too. `exact`: what our own sandbox answers, where only what the row calls nullable is null.
   */
  readonly side: 'answer' | 'asked' | 'exact';
  /** Words that are not in the row may come too. */
  readonly openWords: boolean;
  /** Name of a type that says more than the field does. */
  readonly titleOf?: (field: AnyField) => string | undefined;
}

/** One member a line, each below its description. */
export function membersOf(shape: Shape, style: TypeStyle, level: number): string {
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
export function commentText(text: string): string {
  return text.replaceAll('*/', '* /');
}

function described({ doc, defaults }: AnyField, { side }: TypeStyle): string {
  const text = side === 'asked' && defaults !== undefined ? `${doc} Default: ${defaults}.` : doc;
  return commentText(text);
}

function absenceOf({ must, nullable }: AnyField, { side }: TypeStyle): string {
  if (nullable) return ' | null';
  if (must || side === 'exact') return '';
  return side === 'answer' ? ' | null' : ' | undefined';
}

function typeOf(field: AnyField, style: TypeStyle, level: number): string {
  const title = style.titleOf?.(field);
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
export function objectType(shape: Shape, style: TypeStyle, level: number): string {
  if (Object.keys(shape).length === 0) return 'Readonly<Record<string, unknown>>';
  return `{\n${membersOf(shape, style, level + 1)}${'  '.repeat(level)}}`;
}

function wordType(choices: readonly string[], { openWords }: TypeStyle): string {
  const words = choices.map(each => `'${each}'`).join(' | ');
  return openWords ? `${words} | (string & {})` : words;
}

function itemType(field: AnyField, style: TypeStyle, level: number): string {
  const type = typeOf(field, style, level);
  return field.kind === 'choice' ? `(${type})` : type;
}
