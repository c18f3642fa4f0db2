/** Statements on `api_keys`: what is kept of a key is its digest, never the key. */
import type { KeyAccess } from '../../contract/sandbox/keys.ts';
import type { Sql } from './sql.ts';

export interface ApiKeyRow {
  readonly id: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly digest: string;
  readonly last4: string;
  readonly access: KeyAccess;
  readonly created_at: number;
}

const COLUMNS = 'id, digest, last4, access, created_at';

export const insertApiKey = (sql: Sql, account: string, row: ApiKeyRow) =>
  sql.run(
    `insert into api_keys (account_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.digest,
    row.last4,
    row.access,
    row.created_at,
  );

export const allApiKeys = (sql: Sql, account: string) =>
  sql.all<ApiKeyRow>(`select ${COLUMNS} from api_keys where account_id = ? order by created_at, id`, account);

export const apiKeyByDigest = (sql: Sql, account: string, digest: string) =>
  sql.get<ApiKeyRow>(`select ${COLUMNS} from api_keys where account_id = ? and digest = ?`, account, digest);
