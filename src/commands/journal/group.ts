import { initJournal } from './init.ts';
import { journalStatus } from './status.ts';

export const JOURNAL_COMMANDS = [journalStatus, initJournal];
