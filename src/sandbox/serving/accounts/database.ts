/** The database of a team's sandbox: its address, the password for it, and the clock that all its servers share. */

import { CliError } from '../../../core/errors.ts';
import type { Secret } from '../../../core/secret.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import type { Clock, Randomness } from '../../../platform/host.ts';
import { type NextStep, nextStepAfter } from '../../../postgres/next-step.ts';
import { type PostgresUrl, parsePostgresUrl, type UrlPurpose, type UrlSource } from '../../../postgres/postgres-url.ts';
import { PostgresRefusal } from '../../../postgres/refusal.ts';
import { readSecretLine, tlsTexts } from '../../../postgres/url-files.ts';
import { isDatabaseFull, whyAway } from '../../requests/unavailable.ts';
import { CommitUnknown } from '../../store/faults.ts';
import { SCHEMA_NAME } from '../../store/postgres/migrate.ts';
import { openPostgresStores, type PostgresStores } from '../../store/postgres/open.ts';
import { StoreBusy } from '../../store/sql.ts';

const HINT = 'cardwright sandbox start --help';
const PASSWORD_FILE = 'CARDWRIGHT_STORE_PASSWORD_FILE';
const PURPOSE: UrlPurpose = {
  what: 'sandbox store',
  hint: HINT,
  passwordHint: 'set CARDWRIGHT_STORE_PASSWORD_FILE',
  knowsPrepare: true,
};

/** Throws `usage` for an address that is none, `guarded` for one that would not be verified. */
export function parseStoreUrl(text: string, source: UrlSource): PostgresUrl {
  if (/^postgres(?:ql)?:/i.test(text)) return parsePostgresUrl(text, source, PURPOSE);
  throw new CliError('usage', {
    message: '--store is the address of a PostgreSQL database: postgres://role@host:port/database',
    notes: ['The store of this machine is a file in the data folder; it is served without --store.'],
    hint: HINT,
    outcome: 'not_sent',
  });
}

export interface DatabaseRequest {
  readonly url: PostgresUrl;
  /** File of the password, where the address does not hold it. */
  readonly passwordFile?: string | undefined;
  /** Told the password before it is used, so that no output holds it. */
  readonly onPassword?: ((password: string) => void) | undefined;
  readonly mayMigrate: boolean;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
}

export interface OpenDatabase extends PostgresStores {
  /** Address without a password. */
  readonly shown: string;
  /** Shows the time of the server. */
  readonly clock: Clock;
}

/** Throws `check_failed` for tables that are not those of this program, `guarded` when the database cannot be used. */
export async function openDatabase(request: DatabaseRequest): Promise<OpenDatabase> {
  const { url, mayMigrate, random, platform } = request;
  const { host, port, role: user, database, shown, mayPrepare } = url;
  const clock = serverClock(request.clock);
  const tls = url.tls && (await tlsTexts(url.tls, { platform, hint: HINT }));
  const stores = await openPostgresStores({
    address: { host, port, user, database, tls },
    password: () => passwordFor(request),
    schema: SCHEMA_NAME,
    onServerTime: clock.told,
    ...{ shown, mayPrepare, mayMigrate, clock: request.clock, random },
  }).catch((error: unknown) => {
    throw inWords(error, url);
  });
  return { ...stores, shown, clock };
}

/** What the database refuses or does not answer, as a user reads it. */
function inWords(error: unknown, url: PostgresUrl): unknown {
  if (error instanceof CliError) return error;
  const { shown } = url;
  const text = error instanceof Error ? error.message : String(error);
  const why = error instanceof PostgresRefusal ? `refuses: ${text}` : `cannot be reached: ${text}`;
  const next = nextStepAfter(error, { ...url, passwordFile: PASSWORD_FILE }) ?? rightsFor(error, url);
  return new CliError('guarded', {
    message: `the sandbox store ${shown} ${why}`,
    ...(next !== undefined && { notes: [next.note] }),
    hint: next?.hint ?? HINT,
    outcome: 'not_sent',
    cause: error,
  });
}

/** Tables belong to the role that made them. */
function rightsFor(error: unknown, { role }: PostgresUrl): NextStep | undefined {
  if (!(error instanceof PostgresRefusal) || error.code !== '42501') return undefined;
  return {
    note: `As an admin of PostgreSQL, make it a member of the role that made the tables: grant <that role> to ${role}; they tell: select tableowner from pg_tables where schemaname = '${SCHEMA_NAME}'`,
  };
}

/** What kept the accounts of an open store from being read or changed: `unreachable`, or `outcome_unknown` of a lost commit. */
export function changeError(error: unknown, shown: string): unknown {
  const hint = `cardwright sandbox accounts list --store ${shellWord(shown)}`;
  if (error instanceof CommitUnknown) {
    return new CliError('outcome_unknown', {
      message: `the connection to the sandbox store ${shown} was lost during a commit: whether it lasted is not known`,
      hint,
      outcome: 'unknown',
      cause: error,
    });
  }
  if (!(error instanceof StoreBusy)) return error;
  const isFull = isDatabaseFull(error);
  return new CliError('unreachable', {
    message: `the sandbox store ${shown} ${isFull ? 'has no room left' : 'is busy'}: ${whyAway(error)}`,
    notes: [`Nothing happened. Repeat the command ${isFull ? 'when its disk has room again' : 'in a moment'}.`],
    hint,
    outcome: 'not_sent',
    cause: error,
  });
}

async function passwordFor({ url, passwordFile, platform, onPassword }: DatabaseRequest): Promise<string> {
  const given: Secret | undefined = url.password;
  if (given !== undefined) return given.expose();
  if (passwordFile !== undefined) {
    const read = await readSecretLine(passwordFile, { platform, hint: HINT });
    onPassword?.(read);
    return read;
  }
  throw new CliError('guarded', {
    message: `the sandbox store ${url.shown} asks for a password, and none is given`,
    notes: ['It comes from a file of its own; no other place is looked at.'],
    hint: 'export CARDWRIGHT_STORE_PASSWORD_FILE=/absolute/path',
    outcome: 'not_sent',
  });
}

/** Servers of one store need no common clock: each takes the time of the database, as it was when last asked. */
function serverClock(own: Clock): Clock & { told(now: number): void } {
  let ahead = 0;
  return {
    now: () => own.now() + ahead,
    monotonic: () => own.monotonic(),
    sleep: (ms, signal) => own.sleep(ms, signal),
    told: now => {
      ahead = now - own.now();
    },
  };
}
