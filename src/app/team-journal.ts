/** The journal that several people share: which one this run means, and a connection to it. */
import { CliError } from '../core/errors.ts';
import {
  type ConnectDependencies,
  connectJournal,
  type JournalConnection,
  readJournalUrlFile,
} from '../team/connect.ts';
import { type JournalUrl, parseJournalUrl } from '../team/journal-url.ts';
import type { AppHost } from './app-host.ts';

/** How long the database is waited for, and who is told. */
export type Waiting = Pick<ConnectDependencies, 'patienceMs' | 'answerMs' | 'onWait'>;

export interface Chosen {
  readonly host: AppHost;
  /** Filled with what must be taken out of all output. */
  readonly keys: Set<string>;
  /** `--journal`. */
  readonly flag: string | undefined;
  /** Of the profile; asked where neither the option nor a variable names one. */
  readonly settings?: (() => Promise<{ readonly journal?: string; readonly journal_url_file?: string }>) | undefined;
  /** See `ConnectDependencies`. */
  readonly waiting?: Waiting | undefined;
}

/** Nothing is connected to yet. Throws `usage` where no journal is named, or its address is not usable. */
export async function teamJournalFor(chosen: Chosen): Promise<JournalConnection> {
  const named = await namedJournal(chosen);
  if (named === undefined) throw notNamed();
  return named;
}

/** The same; undefined where ops are kept on this machine. */
export async function namedJournal({ waiting, ...chosen }: Chosen): Promise<JournalConnection | undefined> {
  const { host, keys } = chosen;
  const { env, clock, random, platform, signal } = host;
  const url = await chosenUrl(chosen);
  if (url === undefined) return undefined;
  if (url.password !== undefined) keys.add(url.password.expose());
  const passwordFile = env['CARDWRIGHT_JOURNAL_PASSWORD_FILE'];
  const onPassword = (password: string) => void keys.add(password);
  return connectJournal(url, { clock, random, platform, signal, passwordFile, onPassword, ...waiting });
}

/** Its address, whatever may be reached there; undefined where ops are kept on this machine. Throws `usage` where it is not usable. */
export async function chosenUrl({
  host: { env, platform },
  keys,
  flag,
  settings,
}: Chosen): Promise<JournalUrl | undefined> {
  if (flag === LOCAL) return undefined;
  if (flag !== undefined) return parseJournalUrl(flag, 'flag');
  const { CARDWRIGHT_JOURNAL_URL: text, CARDWRIGHT_JOURNAL_URL_FILE: file } = env;
  if (text !== undefined && file !== undefined) {
    throw new CliError('usage', {
      message: 'CARDWRIGHT_JOURNAL_URL and CARDWRIGHT_JOURNAL_URL_FILE are both set; set one of them',
      hint: 'unset CARDWRIGHT_JOURNAL_URL_FILE',
      outcome: 'not_sent',
    });
  }
  if (text !== undefined) return secretly(text, 'environment', keys);
  if (file !== undefined) return secretly(await readJournalUrlFile(file, platform), 'file', keys);
  const { journal, journal_url_file } = (await settings?.()) ?? {};
  if (journal !== undefined) return journal === LOCAL ? undefined : parseJournalUrl(journal, 'flag');
  return journal_url_file === undefined
    ? undefined
    : secretly(await readJournalUrlFile(journal_url_file, platform), 'file', keys);
}

/** The word for the journal of this machine. */
const LOCAL = 'local';

function notNamed(): CliError {
  return new CliError('usage', {
    message: 'no shared journal is named: give --journal, or set CARDWRIGHT_JOURNAL_URL',
    hint: 'cardwright help environment',
    outcome: 'not_sent',
  });
}

/** As it was written too: percent signs may stand for parts of the password. */
function secretly(text: string, source: 'environment' | 'file', keys: Set<string>): JournalUrl {
  const [, password] = /^[^@]*\/\/[^@]*?:([^@]*)@/.exec(text) ?? [];
  if (password !== undefined && password !== '') keys.add(password);
  return parseJournalUrl(text, source);
}
