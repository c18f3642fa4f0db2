/** What the database of a shared journal refuses, in our words. */
import { CliError, type ErrorKind } from '../core/errors.ts';
import { nextStepAfter } from '../postgres/next-step.ts';
import { PostgresRefusal, UnsafeLogin } from '../postgres/refusal.ts';
import { identifier, literal } from '../postgres/sql-text.ts';
import type { JournalStatus } from './calls.ts';
import type { JournalUrl } from './journal-url.ts';
import { type LeftAccount, leftNotes } from './left-account.ts';
import { SCHEMA_NUMBER } from './schema/number.ts';

interface Words {
  readonly kind: ErrorKind;
  /** Before the server's own words, which name account, role and op. */
  readonly says?: string;
  readonly notes?: readonly string[];
  readonly hint?: string;
}

const STATUS = 'cardwright journal status --help';
const WITHOUT_DATABASE = [
  'Wait until it answers again, or ask its administrator: until then no money is moved, with --journal local neither.',
  'What only reads the service goes on without it; reconcile and statement need the journal, for they compare it with the account.',
  'Cards can be stopped without it: cards freeze with ids, and with --journal local also for --file and selections.',
];
const NO_SCHEMA: Words = {
  kind: 'guarded',
  says: 'there is no journal of this release in the database',
  hint: 'cardwright journal init --print-sql',
};
/** Of whoever begins something: who only approves or reads is in another group. */
const LOGIN = { passwordFile: 'CARDWRIGHT_JOURNAL_PASSWORD_FILE', group: 'cardwright_operator' };
const NO_LOGIN: Words = { kind: 'guarded', says: 'the login was refused' };

/** By the code of the refusal; ours are raised by the functions of the schema. */
const REFUSALS: Readonly<Record<string, Words>> = {
  CW001: { kind: 'guarded', notes: ['An admin of the database sets default_transaction_isolation for the role.'] },
  CW002: { kind: 'guarded', notes: ['A standby cannot be written.'] },
  CW003: { kind: 'guarded' },
  CW005: {
    kind: 'guarded',
    notes: [
      'Nobody moves money until every operator has brought what his machine knows, and an admin has said that the database is right: cardwright.accept_failover.',
    ],
    hint: 'cardwright journal push',
  },
  CW006: {
    kind: 'check_failed',
    notes: [
      'Nobody moves money until every operator has brought what his machine knows, and an admin has said that the database is right: cardwright.accept_failover.',
    ],
    hint: 'cardwright journal push',
  },
  CW007: { kind: 'internal' },
  CW008: { kind: 'guarded' },
  CW009: { kind: 'guarded' },
  CW010: { kind: 'guarded', hint: 'cardwright journal status' },
  CW011: { kind: 'guarded', hint: 'cardwright journal status' },
  '28000': NO_LOGIN,
  '28P01': NO_LOGIN,
  '3D000': { kind: 'guarded' },
  '3F000': NO_SCHEMA,
  '42883': NO_SCHEMA,
  '42P01': NO_SCHEMA,
};

/** Codes after which the same call may be made again: the server was busy, was stopping, or chose another. */
const PASSING = /^(?:08|53|57P0[123]|57014$|55P03$|40001$|40P01$)/;

/** Whether the same call may succeed in a moment. A connection that was lost is no refusal, and passes too. */
export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof PostgresRefusal) return PASSING.test(thrown.code);
  return !(thrown instanceof CliError) && !NEVER.has(codeOf(thrown) ?? '') && !(thrown instanceof UnsafeLogin);
}

/** Another session locks what the call waited for. */
export function isLockTimeout(thrown: unknown): boolean {
  return thrown instanceof PostgresRefusal && thrown.code === '55P03';
}

/** A certificate that does not fit is none in a moment. */
const NEVER: ReadonlySet<string> = new Set([
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
]);

/**
 * The error a user sees. `not_sent`: what a call of the journal was for has not left for the service by it. `account` is the one that
 * was asked for.
 */
export function journalError(url: JournalUrl, thrown: unknown, account?: string): CliError {
  if (thrown instanceof CliError) return thrown;
  if (thrown instanceof PostgresRefusal && TOO_FEW_RIGHTS.has(thrown.code)) return tooFewRights(url, thrown, account);
  const { shown } = url;
  const next = nextStepAfter(thrown, { ...url, ...LOGIN });
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const words = thrown instanceof PostgresRefusal ? REFUSALS[thrown.code] : undefined;
  if (words === undefined) {
    const known = thrown instanceof PostgresRefusal && !PASSING.test(thrown.code);
    return new CliError(known ? 'internal' : 'guarded', {
      message: known
        ? `the shared journal ${shown}: ${text}`
        : `the shared journal ${shown} cannot be reached: ${text}`,
      ...(!known && {
        reason: 'journal_unreachable',
        notes: next === undefined ? WITHOUT_DATABASE : [next.note, ...WITHOUT_DATABASE],
      }),
      hint: next?.hint ?? (known ? STATUS : 'cardwright doctor'),
      outcome: 'not_sent',
      cause: thrown,
    });
  }
  const { kind, says } = words;
  const notes = words.notes ?? (next === undefined ? waysOn(thrown) : [next.note]);
  const hint = words.hint ?? next?.hint ?? STATUS;
  return new CliError(kind, {
    message: `the shared journal ${shown}: ${says === undefined ? text : `${says}: ${text}`}`,
    ...(notes !== undefined && { notes }),
    hint,
    outcome: 'not_sent',
    cause: thrown,
  });
}

/** Of a role that is no member of the account, of one that is for something else, and of one that is in no group for this. */
const TOO_FEW_RIGHTS: ReadonlySet<string> = new Set(['CW004', '42501']);

/** An account that is not there is refused in the same words: nobody learns the names of those of others. */
function tooFewRights({ shown, role }: JournalUrl, refusal: PostgresRefusal, asked?: string): CliError {
  const [, refused] = /^no account (\S+) that /.exec(refusal.message) ?? [];
  const account = refused ?? asked;
  const where = account === undefined ? '' : `the account ${account} of `;
  const why = refused === undefined ? `: ${refusal.message}` : '';
  const wanted = / approve$/.test(refusal.message) ? 'approve' : 'operate';
  const group = wanted === 'approve' ? 'cardwright_approver' : LOGIN.group;
  return new CliError('guarded', {
    message: `the role ${role} has no rights in ${where}the shared journal ${shown}, or too few for this${why}`,
    notes: [
      ...(refused === undefined
        ? [
            `Where ${role} is to ${wanted}, and not to read alone, as an admin of PostgreSQL: grant ${group} to ${identifier(role)};`,
          ]
        : []),
      'An admin of the journal says in the database what it may do, such as:',
      `select cardwright.add_member('${account ?? '<account>'}', ${literal(role)}, '{read,${wanted}}');`,
    ],
    hint: STATUS,
    outcome: 'not_sent',
    cause: refusal,
  });
}

/** Whom a run acts as at the service. */
export interface ActsAs {
  readonly baseUrl: string;
  readonly mode: 'sandbox' | 'test' | 'live';
}

/** Whether an account is the one that a run acts for. */
export function isAccountOf({ origin, mode }: Pick<JournalStatus, 'origin' | 'mode'>, here: ActsAs): boolean {
  return mode === here.mode && (origin === here.baseUrl || origin === new URL(here.baseUrl).origin);
}

/** Throws `guarded` for the account of another service. */
export function refuseOtherAccount(
  { account, origin, mode }: Pick<JournalStatus, 'account' | 'origin' | 'mode'>,
  here: ActsAs,
  shown: string,
): void {
  if (isAccountOf({ origin, mode }, here)) return;
  throw new CliError('guarded', {
    message: `the account ${account} of the shared journal ${shown} is at ${origin}, ${mode}; this run acts at ${here.baseUrl}, ${here.mode}`,
    notes: ['Another profile, or another account of the journal, is meant.'],
    hint: 'cardwright whoami',
    outcome: 'not_sent',
  });
}

/** Every change of a run with this API key is refused. `key_print` is that of the key in the account. */
export function keyNotListed({
  account,
  key_print,
}: {
  readonly account: string;
  readonly key_print: string;
}): CliError {
  return new CliError('guarded', {
    message: 'the API key is none of this account in the shared journal',
    notes: [
      'When this is the right key, an admin of the journal adds its print in the database:',
      `select cardwright.add_key('${account}', '${key_print}');`,
    ],
    hint: 'cardwright whoami',
    outcome: 'not_sent',
  });
}

/** What a refusal says and what to do about it, where there is one line for it. */
export function inOneLine({ facts: { message, notes = [] } }: CliError): string {
  return notes.reduce((text, note) => `${text}${/[.:;]$/.test(text) ? '' : '.'} ${note}`, message);
}

/** How a freeze of an account ends. */
export function endOfFreeze(account: string): string {
  return `An admin of the journal ends the freeze in the database: select cardwright.accept_failover('${account}', 'it goes on');`;
}

/** How an account goes on that takes nothing now. */
function waysOn(thrown: unknown): readonly string[] | undefined {
  if (!(thrown instanceof PostgresRefusal)) return undefined;
  const detail = JSON.parse(thrown.detail || '{}') as LeftAccount;
  if (thrown.code === 'CW011') return leftNotes(detail);
  return thrown.code === 'CW010' ? [endOfFreeze(detail.account)] : undefined;
}

function codeOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Throws `check_failed` for a schema of a newer release, `guarded` for one of an older. */
export function refuseOtherSchema({ schema }: Pick<JournalStatus, 'schema'>, shown: string): void {
  if (schema === SCHEMA_NUMBER) return;
  const isNewer = schema > SCHEMA_NUMBER;
  throw new CliError(isNewer ? 'check_failed' : 'guarded', {
    message: `the shared journal ${shown} has schema ${schema}, and this cardwright knows ${SCHEMA_NUMBER}${isNewer ? '. Install the newer version and repeat the command' : ''}`,
    ...(!isNewer && {
      notes: ['An admin of the database runs what this prints; until then nothing is written.'],
      hint: `cardwright journal init --print-sql --from ${schema}`,
    }),
    outcome: 'not_sent',
  });
}
