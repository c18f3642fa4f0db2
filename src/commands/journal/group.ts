import { checkJournal } from './check.ts';
import { initJournal } from './init.ts';
import { moveJournal } from './move.ts';
import { pushJournal } from './push.ts';
import { journalStatus } from './status.ts';

export const JOURNAL_COMMANDS = [journalStatus, pushJournal, checkJournal, moveJournal, initJournal];
