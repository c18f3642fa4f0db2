/** What the idempotency key is worth, per account and operation (docs/design/reliability.md, section 4). */

import { join } from 'node:path';
import type { WriteName } from '../contract/calls.ts';
import { KEY_RETENTION } from '../contract/spans.ts';
import { isObject } from '../core/objects.ts';
import { type FileDependencies, preparePrivateFolder, readPrivate, writePrivate } from '../files/private-files.ts';

export type Capability =
  | { readonly key: 'unknown' }
  /** `ttl_ms` is how long the service remembers a key; null where nobody has told. `at` is ms UTC. */
  | {
      readonly key: 'honoured';
      readonly ttl_ms: number | null;
      /** So long a probe has seen a key remembered. */
      readonly proved_ms?: number | undefined;
      readonly at: number;
    }
  | { readonly key: 'ignored'; readonly at: number };

export const UNKNOWN: Capability = { key: 'unknown' };
/** A sandbox remembers keys as it says. */
const SANDBOX: Capability = { key: 'honoured', ttl_ms: KEY_RETENTION, at: 0 };
const IGNORED: Capability = { key: 'ignored', at: 0 };

/** Whose keys: what one account was found to do says nothing about another, nor a test key about a live one. */
export interface Account {
  readonly origin: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  /** Print of the API key, as in a plan. */
  readonly keyPrint: string;
}

export interface Capabilities {
  of(account: Account, operation: WriteName): Promise<Capability>;
  /** Remembers what a probe has found. */
  remember(account: Account, found: Partial<Record<WriteName, Capability>>): Promise<void>;
}

interface Knowing {
  readonly capabilities: Capabilities;
  /** Whether the embedded sandbox honours keys in the dialect it speaks. */
  readonly sandboxHonoursKeys?: (() => Promise<boolean>) | undefined;
}

/** What is known now. A live key is never probed, so of it nothing is known, whatever a file says. */
export async function capabilityOf(knowing: Knowing, account: Account, operation: WriteName): Promise<Capability> {
  const { capabilities, sandboxHonoursKeys } = knowing;
  switch (account.mode) {
    case 'live':
      return UNKNOWN;
    case 'sandbox':
      return sandboxHonoursKeys === undefined || (await sandboxHonoursKeys()) ? SANDBOX : IGNORED;
    case 'test':
      return capabilities.of(account, operation);
  }
}

interface KeptAccount {
  readonly origin: string;
  readonly mode: Account['mode'];
  readonly key_print: string;
  readonly operations: Partial<Record<WriteName, Capability>>;
}

const VERSION = 2;

/** Kept in `capabilities.json` of the state folder. What cannot be understood there says nothing, and no key is relied on. */
export function capabilitiesIn(stateFolder: string, around: FileDependencies): Capabilities {
  const path = join(stateFolder, 'capabilities.json');
  async function read(): Promise<readonly KeptAccount[]> {
    const text = await readPrivate(path, around);
    try {
      const { version, accounts } = JSON.parse(text ?? '{}') as { version?: unknown; accounts?: unknown };
      return version === VERSION && Array.isArray(accounts) ? (accounts as KeptAccount[]).filter(isObject) : [];
    } catch {
      return [];
    }
  }
  return {
    async of(account, operation) {
      const operations = (await read()).find(each => isOf(each, account))?.operations ?? {};
      return (Object.hasOwn(operations, operation) ? operations[operation] : undefined) ?? UNKNOWN;
    },
    async remember(account, found) {
      await preparePrivateFolder(stateFolder, around);
      const accounts = await read();
      const known = accounts.find(each => isOf(each, account))?.operations;
      const { origin, mode, keyPrint } = account;
      const now: KeptAccount = { origin, mode, key_print: keyPrint, operations: { ...known, ...found } };
      const kept = { version: VERSION, accounts: [...accounts.filter(each => !isOf(each, account)), now] };
      await writePrivate(path, `${JSON.stringify(kept, undefined, 2)}\n`, around);
    },
  };
}

function isOf({ origin, mode, key_print }: KeptAccount, account: Account): boolean {
  return origin === account.origin && mode === account.mode && key_print === account.keyPrint;
}
