/** The wallet and its deposit addresses. */

import type { Shown } from '../../cli/context.ts';
import { columnsOf, rowsListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { option, takes } from '../../cli/parsing/flag.ts';
import type { Result } from '../../contract/calls.ts';
import { WALLET } from '../../contract/resources.ts';
import { SANDBOX_ADDRESS } from '../../contract/sandbox/basis.ts';
import { usage } from '../../core/errors.ts';
import { plainAmount, toCents } from '../../core/money.ts';
import { type Block, lineBlock } from '../../terminal/view.ts';

const COLUMNS = columnsOf(
  WALLET,
  'balance currency:2 pending_deposits:2 total_deposited:3 total_spent:3 cards_active:3 cards_total_balance:3',
);

export const showWallet = command({
  path: 'wallet',
  summary: 'Show the wallet: available, on cards, pending, spent',
  operation: 'wallet.get',
  examples: {
    'In words': 'wallet',
    'The balance for a script': 'wallet --json --fields balance',
  },
  run: ctx => ctx.api.read('wallet.get', {}),
  show: showsWallet,
});

/** How a wallet is shown. */
export function showsWallet(wallet: Result<'wallet.get'>): Shown {
  return {
    noun: 'wallet',
    idField: 'balance',
    quiet: [plainAmount(toCents(wallet.balance))],
    columns: COLUMNS,
  };
}

type Addresses = Result<'wallet.addresses'>;

export const listAddresses = command({
  path: 'wallet addresses',
  summary: 'List the addresses for deposits into the wallet',
  about:
    'A QR code holds exactly the address that the service returned, without a memo. Addresses of the sandbox belong to no real chain, so no money can be sent to them; a line on standard error says so.',
  operation: 'wallet.addresses',
  flags: {
    currency: 'query.currency',
    qr: option(takes.flag('Draw each address as a QR code, on a terminal.')),
  },
  examples: {
    'For one currency': 'wallet addresses --currency usdt',
  },
  async run(ctx, { currency, qr }) {
    if (qr && !ctx.ui.forPeople) throw usage('--qr draws on a terminal, for a person', 'cardwright wallet addresses');
    const list = await ctx.api.read('wallet.addresses', { currency });
    if (qr && list.data.some(({ address }) => address.startsWith(SANDBOX_ADDRESS)))
      ctx.ui.notice('The addresses of the sandbox are of no chain: no money can be sent to them.');
    return { list, qr: qr === true };
  },
  noun: 'address',
  idField: 'address',
  columns: [
    'currency network address memo:2 min_confirmations:3',
    { address: { kind: 'id' }, min_confirmations: 'CONFIRMATIONS' },
  ],
  show: ({ list: { data, page }, qr }) =>
    qr ? { data, blocks: data.flatMap(codeOf) } : { listing: rowsListing(data, { page, noun: 'address' }) },
});

function codeOf({ currency, network, address, memo }: Addresses['data'][number]): readonly Block[] {
  return [
    lineBlock(`${currency}${network == null ? '' : ` on ${network}`}: ${address}`),
    ...(memo == null ? [] : [lineBlock(`Memo, needed beside the address: ${memo}`)]),
    { kind: 'qr', text: address },
  ];
}
