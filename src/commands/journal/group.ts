import type { Leaves } from '../../cli/parsing/command.ts';

export const JOURNAL_COMMANDS: Leaves = {
  'journal status': async () => (await import('./status.ts')).journalStatus,
  'journal push': async () => (await import('./push.ts')).pushJournal,
  'journal check': async () => (await import('./check.ts')).checkJournal,
  'journal move': async () => (await import('./move.ts')).moveJournal,
  'journal init': async () => (await import('./init.ts')).initJournal,
};
