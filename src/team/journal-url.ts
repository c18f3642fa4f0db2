/** The address of a shared journal. */
import { type PostgresUrl, parsePostgresUrl, type UrlPurpose, type UrlSource } from '../postgres/postgres-url.ts';

export type JournalUrl = PostgresUrl;
export type { UrlSource };

const PURPOSE: UrlPurpose = {
  what: 'shared journal',
  hint: 'cardwright journal status --help',
  passwordHint: 'name a file with CARDWRIGHT_JOURNAL_URL_FILE or CARDWRIGHT_JOURNAL_PASSWORD_FILE',
};

/**
 * Reads an address. Throws `usage` naming the broken rule, `guarded` for a connection that would not be verified. The
 * text itself is not repeated: it may hold a password.
 */
export const parseJournalUrl = (text: string, source: UrlSource): JournalUrl => parsePostgresUrl(text, source, PURPOSE);
