/** A preset as what is typed, as what is saved, and as what is shown. */

import { maybe, tells } from '../../../cli/answer-fields.ts';
import type { Preset } from '../../../cli/context.ts';
import { argument, flagName, OURS } from '../../../cli/parsing/flag.ts';
import { text } from '../../../contract/field.ts';
import { GIVEN_NAME_RULE } from '../../../core/given-name.ts';
import { plainAmount, toCents } from '../../../core/money.ts';
import type { Column } from '../../../terminal/view.ts';
import { money } from '../columns.ts';

export const presetName = text({ doc: `Name of the preset. It has ${GIVEN_NAME_RULE}.`, basis: OURS, names: 'preset' });
export const preset = argument(presetName);

export const PRESET_COLUMNS: readonly Column[] = [
  { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
  { field: 'bin', title: 'BIN', kind: 'text', priority: 2 },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 1 },
  { field: 'label', title: 'LABEL', kind: 'text', priority: 2, shrink: true },
  { field: 'spending_limit', title: 'LIMIT', kind: 'money', priority: 4 },
  { field: 'allowed_categories', title: 'CATEGORIES', kind: 'list', priority: 5 },
  { field: 'auto_freeze_at', title: 'FREEZES AT', kind: 'money', priority: 5 },
  { field: 'metadata', title: 'METADATA', kind: 'map', priority: 6, wideOnly: true },
];

/** A preset as data; what it does not say is left out. */
export const PRESET_ROW = {
  name: tells.text('Name.'),
  bin: maybe(tells.text('BIN, or auto.')),
  amount: maybe(tells.usd('Initial funding, USD.')),
  label: maybe(tells.text('Label.')),
  spending_limit: maybe(tells.usd('Monthly limit, USD.')),
  allowed_categories: maybe(tells.texts('Categories.')),
  auto_freeze_at: maybe(tells.usd('Auto-freeze amount, USD.')),
  metadata: maybe(tells.map('Metadata.')),
} as const;

/** The flags of `cards create` that the preset stands for; one that was typed wins over the preset's. */
export function wordsOf(preset: Preset, typed: Readonly<Record<string, unknown>>): readonly string[] {
  const amount = (usd: number) => plainAmount(toCents(usd));
  const values: Readonly<Record<string, readonly string[]>> = {
    bin: listed(preset.bin),
    amount: listed(preset.amount).map(amount),
    label: listed(preset.label),
    spendingLimit: listed(preset.spending_limit).map(amount),
    allowCategory: preset.allowed_categories ?? [],
    autoFreezeAt: listed(preset.auto_freeze_at).map(amount),
    metadata: Object.entries(preset.metadata ?? {}).map(([key, value]) => `${key}=${value}`),
  };
  return Object.entries(values)
    .filter(([key]) => typed[key] === undefined)
    .flatMap(([key, texts]) => texts.map(value => `${flagName(key)}=${value}`));
}

function listed<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

export function presetPairs(preset: Preset): readonly (readonly [string, string])[] {
  const { bin, amount, label, spending_limit, allowed_categories, auto_freeze_at, metadata } = preset;
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ['BIN', bin],
    ['Amount', amount === undefined ? undefined : money(amount)],
    ['Label', label],
    ['Monthly limit', spending_limit === undefined ? undefined : money(spending_limit)],
    ['Categories', allowed_categories?.join(', ')],
    ['Auto-freeze', auto_freeze_at === undefined ? undefined : `below ${money(auto_freeze_at)}`],
    [
      'Metadata',
      metadata &&
        Object.entries(metadata)
          .map(pair => pair.join('='))
          .join(' '),
    ],
  ];
  return pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
}
