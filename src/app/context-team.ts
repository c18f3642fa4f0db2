/** A journal that several people share, as commands ask for it; nothing is opened yet. */
import type { Context } from '../cli/context.ts';
import type { Connections } from './connections.ts';
import type { Opening } from './opening.ts';
import type { RunTerminal } from './terminal.ts';

interface TeamParts extends Pick<Context, 'notice' | 'audit'>, Pick<RunTerminal, 'waiting'> {
  readonly opened: Connections;
}

type ContextTeam = Pick<
  Context,
  'teamJournal' | 'journalStatus' | 'journalKey' | 'moveJournal' | 'noteForLater' | 'copiedOps' | 'teamAccount'
>;

export function contextTeam(
  { host, globals, keys }: Opening,
  { opened, notice, audit, waiting }: TeamParts,
): ContextTeam {
  const around = { host, globals, opened, keys, notice, waiting };
  return {
    async teamJournal() {
      const { teamJournalFor } = await import('./team-journal.ts');
      return teamJournalFor({ host, keys, flag: globals.journal, settings: opened.settings, waiting });
    },
    async journalStatus(connection, account, { warns } = { warns: true }) {
      const { statusCompared } = await import('./own-copies.ts');
      const seen = await statusCompared(host, connection, account);
      const { behindWarning } = await import('../team/loss.ts');
      if (warns && seen.behind !== undefined) notice(behindWarning(seen.behind));
      return seen;
    },
    async journalKey(connection, status) {
      const [{ listedKey }, { keyOfRun }] = await Promise.all([
        import('../team/listed-key.ts'),
        import('./shared-journal.ts'),
      ]);
      return listedKey(connection, status, keyOfRun(opened));
    },
    async moveJournal(wish) {
      const { moveJournal } = await import('./move-journal.ts');
      const localHead = async () => (await (await audit()).read()).entries.at(-1);
      return moveJournal({ ...around, localHead }, wish);
    },
    async noteForLater(operation, cards) {
      const { noteForLater } = await import('./note-for-later.ts');
      await noteForLater(around, operation, cards);
    },
    async copiedOps() {
      const { copiedOps } = await import('./own-copies.ts');
      return copiedOps(host);
    },
    teamAccount: async () =>
      host.env['CARDWRIGHT_JOURNAL_ACCOUNT'] ?? (await opened.settings().catch(() => undefined))?.journal_account,
  };
}
