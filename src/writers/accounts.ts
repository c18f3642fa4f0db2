/** How the accounts of a statement are called: in bank formats by numbers, in journals by the accounts file. */
import { createHash } from 'node:crypto';
import { metadataValue } from '../books/rows.ts';
import type { StatementAccount } from '../books/statement.ts';
import type { Line } from '../books/statement-lines.ts';
import { base32 } from '../core/names.ts';

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
      (each.merchant === undefined || each.merchant(line.payee)) &&
      (each.label === undefined || each.label(label ?? '')) &&
      each.metadata.every(({ key, value }) => value(metadataValue(metadata, key) ?? '')),
  );
  return rule?.account ?? file.default;
}

type Pattern = (text: string) => boolean;

export interface AccountRule {
  /** First and last code, four digits each. */
  readonly mcc: readonly [string, string] | undefined;
  readonly merchant: Pattern | undefined;
  readonly label: Pattern | undefined;
  /** `metadata.<key>` of the card; all must fit. */
  readonly metadata: readonly { readonly key: string; readonly value: Pattern }[];
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
