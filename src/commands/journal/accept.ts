import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag } from '../../contract/field.ts';
import { DID, didView } from './did.ts';

/** Goes on with a journal that was restored, failed over or copied. */
export const acceptJournal = command({
  path: 'journal accept',
  summary: 'Go on with a journal that was restored, failed over or copied',
  answers: { one: DID },
  effect: 'reversible',
  effectSays: 'writes an audit line; from then on changes are sent again',
  reach: 'service',
  ends: { not_confirmed: 'Declined, or nobody could be asked. Nothing was changed.' },
  about: [
    'What was done after the state that was put back is not in the journal: cards whose mark no operation knows are listed first. Freeze or keep them before you agree; then repeat nothing that made one of them.',
    'With --set-aside a damaged journal of this machine is moved out of the way, and a new one begins empty: look at cards and wallet first.',
  ],
  flags: { setAside: option(flag({ doc: 'Move a damaged journal of this machine aside.', basis: OURS })) },
  examples: [
    { does: 'After a restore of the database', run: 'journal accept' },
    { does: 'Where the journal of this machine is damaged', run: 'journal accept --set-aside' },
  ],
  async run(ctx, { setAside = false }) {
    if (ctx.dryRun) throw usage('journal check is the dry run of journal accept');
    return (await ctx.journalAdmin()).accept({
      setAside,
      agree: async found => {
        for (const { what } of found?.flaws ?? []) ctx.notice(`does not fit: ${what}`);
        for (const { card_id, marker } of found?.strangers ?? [])
          ctx.notice(`no operation knows ${card_id}, which carries the mark ${marker}`);
        const question = setAside
          ? 'Begin an empty journal in place of the damaged one?'
          : 'Go on with this journal as it is? What was done since is not in it.';
        const command = setAside ? 'cardwright journal accept --set-aside --yes' : 'cardwright journal accept --yes';
        await confirmed(ctx, { intent: 'Go on with this journal', question, command });
      },
    });
  },
  show: didView,
});
