import type { Leaves } from '../../cli/parsing/command.ts';

export const JOURNAL_COMMANDS: Leaves = {
  'journal init': async () => (await import('./init.ts')).initJournal,
  'journal status': async () => (await import('./status.ts')).journalStatus,
  'journal check': async () => (await import('./check.ts')).checkJournal,
  'journal accept': async () => (await import('./accept.ts')).acceptJournal,
  'journal leave': async () => (await import('./leave.ts')).leaveJournal,
};
