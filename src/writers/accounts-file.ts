/** The accounts file: which account of a journal a line goes to. Read whole, every fault with its line and column. */
import {
  faultyFile,
  type YamlEntry,
  type YamlFault,
  type YamlNode,
  type YamlPosition,
  type YamlText,
} from '../terminal/yaml-tree.ts';

export interface AccountRule {
  /** First and last code, four digits each. */
  readonly mcc: readonly [string, string] | undefined;
  readonly merchant: RegExp | undefined;
  readonly label: RegExp | undefined;
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
const TESTS = ['mcc', 'merchant', 'label'] as const;

/** `file` is what the user called it. Throws `usage` with every fault of the file. */
export function readAccounts({ faults, root }: YamlText, file: string): AccountsFile {
  const reading = new Reading(faults);
  const accounts = root && reading.accounts(root);
  if (accounts !== undefined && reading.faults.length === 0) return accounts;
  throw faultyFile(reading.faults, { file, hint: 'cardwright export --help' });
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
    this.#unknownKeys(node.entries, [...TESTS, 'account'], `${path}.`);
    const of = (name: string) => node.entries.find(entry => entry.name === name);
    const entry = of('account');
    if (entry === undefined) this.#fault(node, `${path} has no account`);
    if (!TESTS.some(name => of(name) !== undefined)) this.#fault(node, `${path} has none of ${TESTS.join(', ')}`);
    const account = this.#account(entry, `${path}.account`);
    const mcc = this.#codes(of('mcc'), `${path}.mcc`);
    const [merchant, label] = [
      this.#glob(of('merchant'), `${path}.merchant`),
      this.#glob(of('label'), `${path}.label`),
    ];
    return account === undefined ? undefined : { mcc, merchant, label, account };
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
export function globOf(glob: string): RegExp {
  const parts = glob
    .replace(/\*+/g, '*')
    .split('*')
    .map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\\\?/g, '.'));
  return new RegExp(`^${parts.join('[^]*?')}$`, 'iu');
}
