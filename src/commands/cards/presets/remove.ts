import { tells } from '../../../cli/answer-fields.ts';
import { command } from '../../../cli/parsing/command.ts';
import { preset } from './preset.ts';

/** Removes a saved preset; cards made with it stay as they are. */
export const removePreset = command({
  path: 'cards presets remove',
  summary: 'Remove a preset; cards made with it do not change',
  answers: { one: { name: tells.text('The preset.'), removed: tells.yes('Always true.') } },
  effect: 'reversible',
  ends: { not_found: 'There is no such preset.' },
  args: { preset },
  examples: [
    { does: 'One', run: 'cards presets remove ads' },
    { does: 'In a script, without a question', run: 'cards presets remove ads --yes' },
  ],
  async run(ctx, { preset: name }) {
    await (await ctx.presets()).remove(name);
    return { name, removed: true };
  },
  show: ({ name }) => ({
    noun: 'preset',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Removed ${name}.` }],
  }),
});
