/**
 * What makes a PostgreSQL database a journal that several people share: its tables and grants, made by an admin in one command
 * that may be run again, who may use it, and which API keys belong to an account.
 */
import { randomBytes } from 'node:crypto';
import type { Approver } from '../approvals/request.ts';
import { CliError } from '../core/errors.ts';
import { appendLine } from './chain.ts';
import { sql, type Transaction } from './database.ts';
import { asAdmin, type PostgresSettings, SCHEMA } from './postgres.ts';
import { otherSchema, SCHEMA_VERSION, TABLES } from './schema.ts';

export const OPERATOR = 'cardwright_operator';
export const READER = 'cardwright_reader';

/** Tables in which operators change rows; in all others they read, and in some they insert. */
const WRITTEN = ['account', 'account_key', 'op', 'change', 'event', 'card_hold', 'spent'] as const;
/** Inserts alone, and of these columns alone: who inserted a row is written by the database. */
const INSERTED = {
  audit: 'account, seq, line, hash',
  approval_request: 'op, request, at',
  approval: 'op, keyid, signature, at',
} as const;

/**
 * Makes schema, tables, roles and grants, or what of them is missing. Throws `guarded` for a database that is away or where the
 * role may not do that, `check_failed` for a journal of another schema. `did` is what was done, a sentence each.
 */
export async function initJournal(settings: PostgresSettings) {
  return asAdmin(settings, async tx => {
    const did: string[] = [];
    const [server] = await tx.all<{ version: number; encoding: string; fsync: string }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
        current_setting('fsync') as fsync`,
    );
    if (server === undefined || server.version < 150_000) throw unfit(settings, 'PostgreSQL 15 or newer is needed');
    if (server.encoding !== 'UTF8') throw unfit(settings, `its encoding is ${server.encoding}, and UTF8 is needed`);
    if (server.fsync !== 'on')
      throw unfit(settings, 'its server runs with fsync = off and could lose what it has committed');
    for (const role of [OPERATOR, READER]) {
      const [there] = await tx.all(sql`select 1 as yes from pg_roles where rolname = ${role}`);
      if (there !== undefined) continue;
      await tx.run(`create role ${role} nologin`);
      did.push(`Made the role ${role}.`);
    }
    const [schema] = await tx.all(sql`select 1 as yes from pg_namespace where nspname = ${SCHEMA}`);
    if (schema === undefined) await tx.run(`create schema ${SCHEMA}`);
    const [tables] = await tx.all(
      sql`select 1 as yes from pg_tables where schemaname = ${SCHEMA} and tablename = 'meta'`,
    );
    if (tables === undefined) {
      for (const table of TABLES) await tx.run(table);
      for (const table of ['audit', 'approval_request'])
        await tx.run(`alter table ${table} alter column by_role set default session_user`);
      const journal = randomBytes(16).toString('hex');
      await tx.insert('meta', ['journal', 'version', 'created'], [[journal, SCHEMA_VERSION, await tx.now()]]);
      did.push(`Made the tables of schema ${SCHEMA}.`);
    }
    const [meta] = await tx.all<{ journal: string; version: number }>('select journal, version from meta');
    if (meta?.version !== SCHEMA_VERSION) throw otherSchema(settings.address.shown, meta?.version);
    await grant(tx);
    did.push(`Granted ${OPERATOR} what operators need, and ${READER} to read.`);
    return { journal: meta.journal, isNew: tables === undefined, did };
  });
}

async function grant(tx: Transaction): Promise<void> {
  const statements = [
    `revoke all on schema ${SCHEMA} from public`,
    `grant usage on schema ${SCHEMA} to ${OPERATOR}, ${READER}`,
    `revoke all on all tables in schema ${SCHEMA} from ${OPERATOR}, ${READER}, public`,
    `grant select on all tables in schema ${SCHEMA} to ${OPERATOR}, ${READER}`,
    `grant insert, update on ${WRITTEN.join(', ')} to ${OPERATOR}`,
    // What is held now is no record: letting it go takes the row away.
    `grant delete on card_hold to ${OPERATOR}`,
    ...Object.entries(INSERTED).map(([table, columns]) => `grant insert (${columns}) on ${table} to ${OPERATOR}`),
  ];
  for (const statement of statements) await tx.run(statement);
}

/**
 * Takes both roles from a login role, and its approver keys with them. Resolves to what was done. Throws `usage` for a role that
 * is not there, `guarded` where it still has the rights by another way.
 */
export async function leaveJournal(settings: PostgresSettings, role: string): Promise<readonly string[]> {
  return asAdmin(settings, async tx => {
    const [there] = await tx.all<{ quoted: string }>(
      sql`select quote_ident(rolname) as quoted from pg_roles where rolname = ${role}`,
    );
    if (there === undefined)
      throw new CliError('usage', {
        message: `there is no role ${role}`,
        outcome: 'not_sent',
        hint: 'cardwright journal status',
      });
    await tx.run(`revoke ${OPERATOR}, ${READER} from ${there.quoted}`);
    const keys = await tx.run(
      sql`update approver set removed = ${await tx.now()} where person = ${role} and removed is null`,
    );
    const [left] = await tx.all<{ still: number }>(sql`select pg_has_role(${role}, ${OPERATOR}, 'usage') as still`);
    if (left?.still === 1) {
      throw new CliError('guarded', {
        message: `${role} is still granted ${OPERATOR} in another way, as a superuser or through another role: nothing was changed`,
        reason: 'journal',
        notes: [`In psql, \\drg ${role} shows through which.`],
        outcome: 'not_sent',
      });
    }
    return [`${role} may neither change nor read the journal.`, `Approver keys removed: ${keys}.`];
  });
}

/**
 * Sets limits for everybody who uses the journal, takes away those without a value, and lists approvers, whose person is their
 * login role. Throws `usage` for a person who is no role. Resolves to what was done.
 */
export async function setRules(
  tx: Transaction,
  rules: readonly { readonly name: string; readonly value: string | undefined }[],
  approvers: readonly Approver[],
): Promise<readonly string[]> {
  const did: string[] = [];
  for (const { name, value } of rules) {
    const [before] = await tx.all<{ value: string }>(
      sql`select value from approval_rule where account = '' and name = ${name}`,
    );
    await tx.run(sql`delete from approval_rule where account = '' and name = ${name}`);
    if (value !== undefined) await tx.insert('approval_rule', ['account', 'name', 'value'], [['', name, value]]);
    did.push(`${name}: ${value ?? 'none'}, and ${before?.value ?? 'none'} before.`);
  }
  for (const { person, key, keyid } of approvers) {
    const [role] = await tx.all(sql`select 1 as yes from pg_roles where rolname = ${person}`);
    if (role === undefined) {
      throw new CliError('usage', {
        message: `${person} is no login role of the database: the person of an approver is the role they work as`,
        hint: 'cardwright journal init --help',
        outcome: 'not_sent',
      });
    }
    await tx.run(
      sql`insert into approver (account, keyid, person, key, added)
        values ('', ${keyid}, ${person}, ${Buffer.from(key).toString('base64')}, ${await tx.now()})
        on conflict (account, keyid) do update set removed = null, person = excluded.person`,
    );
    did.push(`${person} may approve with key ${keyid}.`);
  }
  for (const { id } of await tx.all<{ id: string }>('select id from account'))
    for (const text of did) await appendLine(tx, id, { event: 'limit', text });
  return did;
}

function unfit({ address }: PostgresSettings, why: string): CliError {
  return new CliError('guarded', {
    message: `${address.shown} cannot hold a shared journal: ${why}`,
    reason: 'journal',
    hint: 'cardwright journal init --help',
    outcome: 'not_sent',
  });
}
