/** A connection to a shared journal that has patience: what was lost on the way is asked again, for it may be. */
import { CliError } from '../core/errors.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { between } from '../platform/jitter.ts';
import type { PostgresSession, PostgresValue } from '../postgres/client.ts';
import { readSecretLine, tlsTexts } from '../postgres/url-files.ts';
import type { JournalUrl } from './journal-url.ts';
import { accountLocked, lockOf } from './locked-account.ts';
import { isLockTimeout, isPassing, journalError } from './refusals.ts';

/** Bounds, ms. A pause is drawn anew each time: clients of a database that is gone must not come back together. */
const CONNECT_MS = 5_000;
const CALL_MS = 20_000;
const PATIENCE_MS = 15_000;
const PAUSE_MS = { least: 100, most: 500 } as const;
const HINT = 'cardwright journal status --help';

export interface ConnectDependencies {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
  readonly signal: AbortSignal;
  /** How long a call is repeated, ms; 15 s when left out. */
  readonly patienceMs?: number | undefined;
  /** The longest that a connection or an answer may take, ms; 5 s and 20 s when left out. */
  readonly answerMs?: number | undefined;
  /**
   * Told of each call by the name of what is waited for, and asked for the longest that it may take in all, ms; the result is
   * called when it is over.
   */
  readonly onWait?: ((whom: string, mostMs: () => number) => () => void) | undefined;
  /** `CARDWRIGHT_JOURNAL_PASSWORD_FILE`; the address may hold a password itself. */
  readonly passwordFile?: string | undefined;
  /** Told the password before it is used, so that no output holds it. */
  readonly onPassword?: ((password: string) => void) | undefined;
}

export interface JournalConnection extends AsyncDisposable {
  /** Its address, without a password. */
  readonly shown: string;
  /**
   * One statement that may be sent twice: where its answer is lost, or the server is busy or stopping, it is sent again
   * for `patienceMs`. Throws `guarded` for a journal that cannot be reached or refuses, `check_failed` where it has lost
   * what was known.
   */
  readonly call: PostgresSession['call'];
}

/** Nothing is opened before the first call. */
export function connectJournal(url: JournalUrl, around: ConnectDependencies): JournalConnection {
  let opening: Promise<PostgresSession> | undefined;
  let isClosed = false;

  async function session(): Promise<PostgresSession> {
    const before = await opening?.catch(() => undefined);
    if (before?.alive === true) return before;
    // Nobody would end another one: the process would go on for ever.
    if (isClosed) throw new Error('the connection was closed');
    opening = openSession(url, around);
    return opening;
  }

  /** Of a call that has waited for the account in vain. */
  async function lockedError(thrown: unknown, values: readonly PostgresValue[]): Promise<CliError | undefined> {
    if (isClosed || !isLockTimeout(thrown)) return undefined;
    const asked = async () => lockOf(await session(), accountIn(values) ?? '');
    return accountLocked(url.shown, await asked().catch(() => undefined), thrown);
  }

  return {
    shown: url.shown,
    async call(text, values) {
      const begun = around.clock.monotonic();
      const { patienceMs = PATIENCE_MS, answerMs = CALL_MS } = around;
      let most = patienceMs;
      const over = around.onWait?.(`the shared journal at ${url.host}`, () => most);
      try {
        for (;;) {
          try {
            const reached = await session();
            most = Math.max(patienceMs, around.clock.monotonic() - begun + answerMs);
            return await reached.call(text, values);
          } catch (thrown) {
            const pause = between(around.random, PAUSE_MS.least, PAUSE_MS.most);
            if (isClosed || !isPassing(thrown) || around.clock.monotonic() + pause >= begun + patienceMs)
              throw (await lockedError(thrown, values)) ?? journalError(url, thrown, accountIn(values));
            await around.clock.sleep(pause, around.signal);
          }
        }
      } finally {
        over?.();
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await (await opening?.catch(() => undefined))?.end();
    },
  };
}

/** Each function of the schema begins with the account, by itself or in the JSON of its call. */
function accountIn([first]: readonly PostgresValue[]): string | undefined {
  if (typeof first !== 'string') return undefined;
  return first.startsWith('{') ? (JSON.parse(first) as { readonly account?: string }).account : first;
}

async function openSession(url: JournalUrl, around: ConnectDependencies): Promise<PostgresSession> {
  const [{ openPostgres }, tls] = await Promise.all([
    import('../postgres/client.ts'),
    url.tls && tlsTexts(url.tls, { platform: around.platform, hint: HINT }),
  ]);
  const { host, port, role: user, database } = url;
  const { answerMs = Number.POSITIVE_INFINITY } = around;
  return openPostgres(
    { host, port, user, database, tls },
    {
      password: () => passwordFor(url, around),
      connectMs: Math.min(CONNECT_MS, answerMs),
      callMs: Math.min(CALL_MS, answerMs),
    },
  );
}

async function passwordFor({ shown, password }: JournalUrl, around: ConnectDependencies): Promise<string> {
  if (password !== undefined) return password.expose();
  const { passwordFile, platform, onPassword } = around;
  if (passwordFile !== undefined) {
    const read = await readSecretLine(passwordFile, { platform, hint: HINT });
    onPassword?.(read);
    return read;
  }
  throw new CliError('guarded', {
    message: `the shared journal ${shown} asks for a password, and none is given`,
    notes: [
      'It comes in the address that a variable or a file holds, or in a file of its own; no other place is looked at.',
    ],
    hint: 'export CARDWRIGHT_JOURNAL_PASSWORD_FILE=/absolute/path',
    outcome: 'not_sent',
  });
}

/** A file that holds the address itself, one line. Throws `guarded` when others may read it. */
export const readJournalUrlFile = (path: string, platform: NodeJS.Platform): Promise<string> =>
  readSecretLine(path, { platform, hint: HINT });
