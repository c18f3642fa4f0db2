import type { Preset } from '../../../cli/context.ts';
import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { CREATE_CARD } from '../../../contract/card.ts';
import { text } from '../../../contract/field.ts';
import { CliError } from '../../../core/errors.ts';
import { type Cents, toUsd } from '../../../core/money.ts';
import { PRESET_COLUMNS, PRESET_ROW, preset, presetPairs } from './preset.ts';

const bin = text({ doc: 'BIN to issue from, or auto for the best one.', basis: OURS, names: 'bin' });

/** Saves what new cards are made with under a name. */
export const savePreset = command({
  path: 'cards presets save',
  summary: 'Save the flags of cards create under a name',
  answers: { one: PRESET_ROW },
  about: [
    'cards create --preset <name> then uses these flags; flags that you type win. An older preset of that name is replaced. All profiles share the presets.',
  ],
  effect: 'reversible',
  args: { preset },
  flags: {
    bin: option(bin, '<bin|auto>'),
    amount: option(CREATE_CARD.amount),
    label: option(CREATE_CARD.label),
    spendingLimit: option(CREATE_CARD.spending_limit),
    allowCategory: option(CREATE_CARD.allowed_categories),
    autoFreezeAt: option(CREATE_CARD.auto_freeze_at),
    metadata: option(CREATE_CARD.metadata),
  },
  examples: [
    { does: 'Cards for advertising', run: 'cards presets save ads --bin auto --amount 120 --label "ads: search"' },
    { does: 'Everything but the amount', run: 'cards presets save tools --bin bin_1 --allow-category software' },
  ],
  async run(ctx, { preset: name, ...given }) {
    const usd = (amount: Cents | undefined) => (amount === undefined ? undefined : toUsd(amount));
    const wished = {
      bin: given.bin,
      amount: usd(given.amount),
      label: given.label,
      spending_limit: usd(given.spendingLimit),
      allowed_categories: given.allowCategory,
      auto_freeze_at: usd(given.autoFreezeAt),
      metadata: given.metadata,
    };
    const members = Object.entries(wished).filter(([, value]) => value !== undefined);
    if (members.length === 0) {
      throw new CliError('usage', {
        message: 'a preset holds at least one flag of cards create, such as --amount',
        hint: 'cardwright cards presets save --help',
        outcome: 'not_sent',
      });
    }
    const saved = { name, ...Object.fromEntries(members) } as Preset;
    await (await ctx.presets()).save(saved);
    return saved;
  },
  show: saved => ({
    data: { ...saved },
    noun: 'preset',
    idField: 'name',
    columns: PRESET_COLUMNS,
    blocks: [
      { kind: 'line', text: `Saved ${saved.name}.` },
      { kind: 'pairs', pairs: presetPairs(saved) },
    ],
    notes: [`Next: cardwright cards create --preset ${saved.name}`],
  }),
});
