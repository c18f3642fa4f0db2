import { wholeListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { PRESET_COLUMNS, PRESET_ROW } from './preset.ts';

/** Lists saved presets. */
export const listPresets = command({
  path: 'cards presets list',
  summary: 'List the presets of cards create',
  answers: { list: PRESET_ROW },
  reach: 'files',
  examples: [
    { does: 'All of them', run: 'cards presets list' },
    { does: 'As data', run: 'cards presets list --json' },
  ],
  async run(ctx) {
    const presets = await (await ctx.presets()).list();
    return wholeListing({ data: presets, page: { total: presets.length } }, { noun: 'preset' });
  },
  show: listing => ({ listing, noun: 'preset', idField: 'name', columns: PRESET_COLUMNS }),
});
