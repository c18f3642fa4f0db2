/** Tests as a policy file writes them: `">= 30"`, `"< 10%"`, `empty`, `"saas*"`, a list of patterns. */
import { glob } from '../../core/glob.ts';
import { parseAmount } from '../../core/money.ts';
import { plainOf, type YamlNode } from '../../terminal/yaml-tree.ts';
import type { FactKind } from './facts.ts';
import type { Condition } from './policy.ts';

type Holds = Condition['holds'];

/** A test, or what is wrong with it in words. */
export type ReadTest = { readonly holds: Holds } | { readonly fault: string };

const FORMS: Readonly<Record<FactKind, string>> = {
  days: '"< <= = >= > or !=, then whole days", such as ">= 30"',
  count: '"< <= = >= > or !=, then a whole number", such as ">= 5"',
  money: '"< <= = >= > or !=, then USD", such as "> 200.00"',
  percent: '"< <= = >= > or !=, then percent", such as "< 10%"',
  text: 'empty, set, a pattern such as "saas*", or a list of patterns',
  flag: 'true or false',
};

const COMPARISON = /^(<=|>=|!=|=|<|>)\s*(\S+)$/;

export function readTest(kind: FactKind, node: YamlNode): ReadTest {
  const fault = { fault: `a test of it is ${FORMS[kind]}, not ${JSON.stringify(plainOf(node))}` };
  if (kind === 'text') return textTest(node) ?? fault;
  if (node.kind !== 'value') return fault;
  if (kind === 'flag') return flagTest(node.value) ?? fault;
  const [, operator = '', wanted = ''] = COMPARISON.exec(String(node.value)) ?? [];
  const number = numberOf(kind, wanted);
  if (number === undefined) return fault;
  const compare = OPERATORS[operator as keyof typeof OPERATORS];
  return { holds: value => (typeof value === 'number' ? compare(value, number) : undefined) };
}

const OPERATORS = {
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '=': (a: number, b: number) => a === b,
  '>=': (a: number, b: number) => a >= b,
  '>': (a: number, b: number) => a > b,
  '!=': (a: number, b: number) => a !== b,
} as const;

function numberOf(kind: FactKind, text: string): number | undefined {
  const unsigned = text.replace(/^-/, '');
  const size = sizeOf(kind, unsigned);
  return size === undefined || unsigned === text ? size : -size;
}

function sizeOf(kind: FactKind, text: string): number | undefined {
  if (kind === 'money') return parseAmount(text, { grouped: true });
  if (kind !== 'percent') return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return text.endsWith('%') ? parseAmount(text.slice(0, -1)) : undefined;
}

function flagTest(value: unknown): { readonly holds: Holds } | undefined {
  if (value !== true && value !== false && value !== 'set' && value !== 'empty') return undefined;
  return isThere(value === true || value === 'set');
}

function isThere(wanted: boolean): { readonly holds: Holds } {
  return { holds: value => Array.isArray(value) && value.length > 0 === wanted };
}

function textTest(node: YamlNode): { readonly holds: Holds } | undefined {
  if (node.kind === 'value' && (node.value === 'empty' || node.value === 'set')) return isThere(node.value === 'set');
  const patterns = patternsOf(node);
  if (patterns === undefined) return undefined;
  const tests = patterns.map(glob);
  return { holds: value => Array.isArray(value) && value.some(text => tests.some(test => test(text))) };
}

/** One pattern or a list of them; undefined for anything else, and for an empty one, which would never hold. */
function patternsOf(node: YamlNode): readonly string[] | undefined {
  const nodes = node.kind === 'list' ? node.items : [node];
  const texts = nodes.map(each => (each.kind === 'value' && each.value !== null ? String(each.value) : ''));
  return texts.length === 0 || texts.includes('') ? undefined : texts;
}
