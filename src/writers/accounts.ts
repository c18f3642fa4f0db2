/** How the accounts of a statement are called: in bank formats by numbers, in journals by the accounts file. */
import { createHash } from 'node:crypto';
import { metadataValue, type StatementAccount } from '../books/statement.ts';
import type { Line } from '../books/statement-lines.ts';
import { base32 } from '../books/statement-lines.ts';
import {
  faultyFile,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../terminal/yaml-tree.ts';

const printOf = (id: string, length: number) => base32(createHash('sha256').update(id).digest()).slice(0, length);

const digits = (last4: string | null) => (last4 ?? '').replace(/\D/g, '').padStart(4, '0').slice(-4);

/** What names an account. */
export type Named = Pick<StatementAccount, 'kind' | 'card_id' | 'last4'>;

/** At most 22 characters, as OFX wants: `4242-` and a print of the card's id, `W-` and one of the wallet. */
export function accountNumber({ kind, card_id, last4 }: Named): string {
  if (kind === 'wallet') return `W-${printOf('wallet', 17)}`;
  return `${digits(last4)}-${printOf(card_id ?? '', 17)}`;
}

/** For people: `Card 4242 abcdef`. Labels may change, so no name rests on them. */
export function displayName({ kind, card_id, last4 }: Named): string {
  return kind === 'wallet' ? 'Cardwright Wallet' : `Card ${last4 ?? ''} ${printOf(card_id ?? '', 6)}`;
}

/** In the name of a file: `4242-abcdef`, `wallet`. */
export function accountPart({ kind, card_id, last4 }: Named): string {
  return kind === 'wallet' ? 'wallet' : `${digits(last4)}-${printOf(card_id ?? '', 6)}`;
}

/** In the name of a file: a print of the pattern of labels, which may hold what no file name may. */
export function labelPart(label: string): string {
  return `label-${printOf(label, 6)}`;
}

/** `Assets:Cardwright:C4242-abcdef`, by the accounts file. */
export function ledgerName(
  { kind, card_id, last4, label }: Named & Pick<StatementAccount, 'label'>,
  file: AccountsFile,
): string {
  if (kind === 'wallet') return file.wallet;
  return file.cards
    .replaceAll('{last4}', (last4 ?? '').replace(/\D/g, '') || '0000')
    .replaceAll('{short}', printOf(card_id ?? '', 6))
    .replaceAll('{label}', (label ?? '').replace(/[^A-Za-z0-9-]+/g, '-').replace(/^-+|-+$/g, '') || 'none');
}

/** Account on the other side of a line that is no transfer: the first rule that fits, else the default. */
export function categoryOf(
  line: Line,
  { label, metadata }: Pick<StatementAccount, 'label' | 'metadata'>,
  file: AccountsFile,
): string {
  if (line.counter === 'deposits') return file.deposits;
  if (line.counter !== 'merchant') return file.default;
  const rule = file.rules.find(
    each =>
      (each.mcc === undefined || (line.mcc !== null && line.mcc >= each.mcc[0] && line.mcc <= each.mcc[1])) &&
      (each.merchant === undefined || each.merchant.test(line.payee)) &&
      (each.label === undefined || each.label.test(label ?? '')) &&
      each.metadata.every(({ key, value }) => value.test(metadataValue(metadata, key) ?? '')),
  );
  return rule?.account ?? file.default;
}

interface AccountRule {
  /** First and last code, four digits each. */
  readonly mcc: readonly [string, string] | undefined;
  readonly merchant: RegExp | undefined;
  readonly label: RegExp | undefined;
  /** `metadata.<key>` of the card; all must fit. */
  readonly metadata: readonly { readonly key: string; readonly value: RegExp }[];
  readonly account: string;
}

export interface AccountsFile {
  readonly wallet: string;
  /** With `{last4}`, `{short}` and `{label}`. */
  readonly cards: string;
  readonly deposits: string;
  readonly default: string;
  /** The first that fits wins. */
  readonly rules: readonly AccountRule[];
}

export const DEFAULT_ACCOUNTS: AccountsFile = {
  wallet: 'Assets:Cardwright:Wallet',
  cards: 'Assets:Cardwright:C{last4}-{short}',
  deposits: 'Equity:Deposits',
  default: 'Expenses:Uncategorized',
  rules: [],
};

/** Every account that it names itself; those of cards come from their pattern. */
export function namesIn({ wallet, deposits, default: other, rules }: AccountsFile): readonly string[] {
  return [wallet, deposits, other, ...rules.map(({ account }) => account)];
}

/** What hledger, ledger and beancount all take for an account. */
const ACCOUNT = /^[A-Z][A-Za-z0-9-]*(?::[A-Z0-9][A-Za-z0-9-]*)+$/;
const NAMES = ['wallet', 'cards', 'deposits', 'default'] as const;
const TESTS = ['mcc', 'merchant', 'label', 'metadata.<key>'] as const;
const METADATA = /^metadata\.(.+)$/s;

/** `file` is what the user called it. Throws `usage` with every fault of the file. */
export function readAccounts({ faults, root }: YamlText, file: string): AccountsFile {
  const reading = new Reading(faults);
  const accounts = root && reading.accounts(root);
  if (accounts !== undefined && reading.faults.length === 0) return accounts;
  throw faultyFile(reading.faults, { file, hint: 'cardwright books export --help' });
}

class Reading {
  readonly faults: YamlFault[];

  constructor(faults: readonly YamlFault[]) {
    this.faults = [...faults];
  }

  accounts(root: YamlNode): AccountsFile | undefined {
    if (root.kind !== 'map')
      return this.#fault(root, 'an accounts file is a map of version, wallet, cards, deposits, default, rules');
    this.#unknownKeys(root.entries, ['version', ...NAMES, 'rules'], '');
    const of = (name: string) => root.entries.find(entry => entry.name === name);
    const version = of('version');
    if (version?.node.kind !== 'value' || version.node.value !== 1)
      this.#fault(version?.node ?? root, 'version must be 1');
    const names = NAMES.map(name => [name, this.#account(of(name), name) ?? DEFAULT_ACCOUNTS[name]] as const);
    return { ...(Object.fromEntries(names) as Omit<AccountsFile, 'rules'>), rules: this.#rules(of('rules')) };
  }

  #rules(entry: YamlEntry | undefined): readonly AccountRule[] {
    if (entry === undefined) return [];
    if (entry.node.kind !== 'list') {
      this.#fault(entry.node, 'rules must be a list');
      return [];
    }
    return entry.node.items.flatMap((node, index) => this.#rule(node, `rules[${index}]`) ?? []);
  }

  #rule(node: YamlNode, path: string): AccountRule | undefined {
    if (node.kind !== 'map') return this.#fault(node, `${path} must be a map of ${TESTS.join(', ')} and account`);
    const tags = node.entries.filter(({ name }) => METADATA.test(name));
    const others = node.entries.filter(({ name }) => !METADATA.test(name));
    this.#unknownKeys(others, [...TESTS, 'account'], `${path}.`);
    const of = (name: string) => node.entries.find(entry => entry.name === name);
    const entry = of('account');
    if (entry === undefined) this.#fault(node, `${path} has no account`);
    if (tags.length === 0 && !TESTS.some(name => of(name) !== undefined))
      this.#fault(node, `${path} has none of ${TESTS.join(', ')}`);
    const account = this.#account(entry, `${path}.account`);
    const mcc = this.#codes(of('mcc'), `${path}.mcc`);
    const [merchant, label] = [
      this.#glob(of('merchant'), `${path}.merchant`),
      this.#glob(of('label'), `${path}.label`),
    ];
    const metadata = tags.flatMap(tag => {
      const value = this.#glob(tag, `${path}.${tag.name}`);
      return value === undefined ? [] : [{ key: METADATA.exec(tag.name)?.[1] ?? '', value }];
    });
    return account === undefined ? undefined : { mcc, merchant, label, metadata, account };
  }

  #account(entry: YamlEntry | undefined, path: string): string | undefined {
    if (entry === undefined) return undefined;
    const { node } = entry;
    const value = node.kind === 'value' ? node.value : undefined;
    const filled = String(value)
      .replace(/\{last4\}/g, '4242')
      .replace(/\{short\}/g, 'abcdef')
      .replace(/\{label\}/g, 'ads');
    if (typeof value === 'string' && ACCOUNT.test(path === 'cards' ? filled : value)) {
      if (path !== 'cards' || /\{short\}/.test(value)) return value;
      return this.#fault(node, 'cards must have {short} in it: the last four digits of two cards may be equal');
    }
    return this.#fault(
      node,
      `${path} must be an account of two parts or more, as Expenses:Meals: letters, digits and -`,
    );
  }

  #codes(entry: YamlEntry | undefined, path: string): readonly [string, string] | undefined {
    if (entry === undefined) return undefined;
    const value = entry.node.kind === 'value' ? entry.node.value : undefined;
    const [, first, last = first] = /^(\d{4})(?:-(\d{4}))?$/.exec(String(value)) ?? [];
    if (first !== undefined && last !== undefined && first <= last) return [first, last];
    return this.#fault(entry.node, `${path} must be four digits or a range of them, as 5811-5814`);
  }

  #glob(entry: YamlEntry | undefined, path: string): RegExp | undefined {
    if (entry === undefined) return undefined;
    const value = entry.node.kind === 'value' ? entry.node.value : undefined;
    if (typeof value === 'string' && value !== '') return globOf(value);
    return this.#fault(entry.node, `${path} must be text; * stands for any text`);
  }

  #unknownKeys(entries: readonly YamlEntry[], known: readonly string[], path: string): void {
    for (const entry of entries) {
      if (!known.includes(entry.name))
        this.#fault(entry, `${path}${entry.name} is not known; known: ${known.join(', ')}`);
    }
  }

  #fault({ line, column }: YamlPosition, text: string): undefined {
    this.faults.push({ line, column, text });
  }
}

/** `CLOUD *`: any text for `*`, one character for `?`, large or small letters alike. Never slow, whatever is matched. */
function globOf(glob: string): RegExp {
  const parts = glob
    .replace(/\*+/g, '*')
    .split('*')
    .map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\\\?/g, '.'));
  return new RegExp(`^${parts.join('[^]*?')}$`, 'iu');
}
