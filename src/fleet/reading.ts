/** Values of a YAML tree, read strictly. What is wrong is collected with its place, so that all of it is told at once. */

import { SECRET_NAMES } from '../contract/secret-names.ts';
import { amountBehindNoise, type Cents, parseAmount, plainAmount } from '../core/money.ts';
import { nearest } from '../core/nearest.ts';
import type { YamlEntry, YamlFault, YamlNode, YamlPosition } from '../terminal/yaml-tree.ts';

export interface AmountLimits {
  /** Cents. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  /** Of the interface, for the words of a fault. */
  readonly section?: string | undefined;
}

/** `number` is a name of a card number in an answer, and an innocent key of somebody's metadata. */
const INNOCENT = new Set(['number']);

export class Reading {
  readonly faults: YamlFault[];

  constructor(faults: readonly YamlFault[]) {
    this.faults = [...faults];
  }

  fault({ line, column }: YamlPosition, text: string): undefined {
    this.faults.push({ line, column, text });
  }

  /** Entries of a map by name; with `known`, any other name is a fault. A name that stands twice is one always. */
  map(node: YamlNode, what: string, known?: readonly string[]): ReadonlyMap<string, YamlEntry> | undefined {
    if (node.kind !== 'map') {
      return this.fault(node, `${what} is a map${known === undefined ? '' : ` of ${known.join(', ')}`}`);
    }
    const entries = new Map<string, YamlEntry>();
    for (const entry of node.entries) {
      const { name } = entry;
      const first = entries.get(name);
      if (first !== undefined) {
        this.fault(entry, `${what === 'cards' ? 'card ' : ''}"${name}" stands twice, first at line ${first.line}`);
      } else if (known?.includes(name) !== true && isSecretName(name)) {
        this.fault(entry, `a key called ${name} speaks of a secret; it must not be in a file`);
      } else if (known !== undefined && !known.includes(name)) {
        this.fault(entry, unknownField(name, known));
      } else entries.set(name, entry);
    }
    return entries;
  }

  /** Items of a list; a fault and none for anything else. */
  list(node: YamlNode, what: string): readonly YamlNode[] {
    if (node.kind === 'list') return node.items;
    this.fault(node, `${what} is a list: [one, two]`);
    return [];
  }

  /** A text. What YAML takes for a number, a truth or nothing is one in quotes alone. */
  text(node: YamlNode, what: string): string | undefined {
    if (node.kind !== 'value') return this.fault(node, `${what} is a text`);
    if (typeof node.value === 'string') {
      return /[\x00-\x1f\x7f-\x9f]/.test(node.value)
        ? this.fault(node, `${what} holds a control character`)
        : node.value;
    }
    if (node.value === null) return this.fault(node, `${what} is empty`);
    const kind = typeof node.value === 'number' ? 'number' : 'truth value';
    return this.fault(node, `${what}: ${node.written} is a ${kind} in YAML; quote it`);
  }

  /** Cents of decimal text, as it is written: the number that YAML makes of it is not looked at. */
  amount(node: YamlNode, { least, most, section }: AmountLimits): Cents | undefined {
    if (node.kind !== 'value' || node.written === '') return this.fault(node, 'an amount in USD such as 25.00');
    const { written } = node;
    const amount = parseAmount(written);
    const end = section === undefined ? '' : ` (§${section})`;
    if (amount === undefined) {
      if (/^\d+\.\d{3,}$/.test(written)) {
        const meant = amountBehindNoise(written);
        return this.fault(
          node,
          `${written} has more than two decimals${meant === undefined ? '' : `; ${plainAmount(meant)}?`}`,
        );
      }
      return this.fault(node, `${shown(written)} is no amount in USD such as 25.00`);
    }
    if (least !== undefined && amount < least) {
      return this.fault(node, `amount ${plainAmount(amount)} is below ${plainAmount(least as Cents)}${end}`);
    }
    if (most !== undefined && amount > most) {
      return this.fault(node, `amount ${plainAmount(amount)} is over ${plainAmount(most as Cents)}${end}`);
    }
    return amount;
  }

  /** A whole number. */
  count(
    node: YamlNode,
    what: string,
    { least, most }: { readonly least: number; readonly most: number },
  ): number | undefined {
    const written = node.kind === 'value' && !node.quoted ? node.written : '';
    const value = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
    if (value >= least && value <= most) return value;
    return this.fault(node, `${what} is a whole number from ${least} to ${most}`);
  }

  yes(node: YamlNode, what: string): boolean | undefined {
    if (node.kind === 'value' && typeof node.value === 'boolean') return node.value;
    return this.fault(node, `${what} is true or false`);
  }
}

export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll('-', '_');
  return SECRET_NAMES.has(plain) && !INNOCENT.has(plain);
}

/** `spending_limit` is what the interface calls the limit, and no edit away from it. */
const OTHERWISE_CALLED: Readonly<Record<string, string>> = {
  spending_limit: 'limit',
  allowed_categories: 'categories',
  bin_id: 'bin',
  status: 'state',
};

function unknownField(name: string, known: readonly string[]): string {
  const meant = OTHERWISE_CALLED[name];
  const near = meant !== undefined && known.includes(meant) ? meant : nearest(name, known);
  const end = near === undefined ? `; known: ${known.join(', ')}` : `; did you mean \`${near}\`?`;
  return `\`${shown(name)}\` is not known here${end}`;
}

const LONGEST_SHOWN = 60;

/** A text of the file in a message; a long one is cut. */
export function shown(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
