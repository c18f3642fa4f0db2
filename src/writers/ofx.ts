/** A statement as OFX 1.0.2, and as the QBO of QuickBooks: one bank account a card, ids that make a second import add nothing. */
import { type Line, provedBalance, type Statement, type StatementAccount } from '../books/statement-model.ts';
import { accountNumber } from './account-names.ts';
import type { Piece } from './piece.ts';
import { amount, ascii, short } from './text.ts';

export interface OfxOptions {
  /** ms UTC: what is shown reaches to it. Same cuts and same time give same bytes. */
  readonly until: number;
  /** QBO: number of the bank that QuickBooks knows, and one account a file. */
  readonly intuBid?: string;
}

const HEADER = [
  'OFXHEADER:100',
  'DATA:OFXSGML',
  'VERSION:102',
  'SECURITY:NONE',
  'ENCODING:USASCII',
  'CHARSET:1252',
  'COMPRESSION:NONE',
  'OLDFILEUID:NONE',
  'NEWFILEUID:NONE',
  '',
];

/** One file with every account given; with `intuBid` give one. */
export function* ofxFile(
  accounts: Iterable<StatementAccount>,
  period: Statement['period'],
  { until, intuBid }: OfxOptions,
): Generator<Piece> {
  const head = [
    ...HEADER,
    '<OFX>',
    '<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>',
    `<DTSERVER>${moment(until)}<LANGUAGE>ENG`,
    ...(intuBid === undefined ? [] : [`<FI><ORG>CARDWRIGHT<FID>${escaped(intuBid)}</FI><INTU.BID>${escaped(intuBid)}`]),
    '</SONRS></SIGNONMSGSRSV1>',
    '<BANKMSGSRSV1>',
    '',
  ];
  yield { text: head.join('\r\n'), lines: 0 };
  let nth = 0;
  for (const account of accounts) {
    nth += 1;
    yield {
      text: `${accountLines(account, nth, { from: period.from, until }).join('\r\n')}\r\n`,
      lines: account.lines.length,
    };
  }
  yield { text: '</BANKMSGSRSV1>\r\n</OFX>\r\n', lines: 0 };
}

/** ms UTC. */
type Span = Readonly<Record<'from' | 'until', number>>;

function accountLines(account: StatementAccount, nth: number, { from, until }: Span): readonly string[] {
  const balance = provedBalance(account, until);
  return [
    `<STMTTRNRS><TRNUID>${nth}<STATUS><CODE>0<SEVERITY>INFO</STATUS>`,
    '<STMTRS><CURDEF>USD',
    `<BANKACCTFROM><BANKID>000000000<ACCTID>${accountNumber(account)}<ACCTTYPE>CHECKING</BANKACCTFROM>`,
    `<BANKTRANLIST><DTSTART>${moment(from)}<DTEND>${moment(until)}`,
    ...account.lines.map(transaction),
    '</BANKTRANLIST>',
    `<LEDGERBAL><BALAMT>${amount(balance.cents)}<DTASOF>${moment(balance.at)}</LEDGERBAL>`,
    '</STMTRS></STMTTRNRS>',
  ];
}

function transaction(line: Line): string {
  const kind = line.type === 'transfer' ? 'XFER' : line.cents < 0 ? 'DEBIT' : 'CREDIT';
  const name = escaped(short(ascii(line.payee) || line.type, 32));
  const memo = escaped(short(ascii([line.type, line.mcc, line.country].filter(Boolean).join(' ')), 255));
  const day = line.date.replaceAll('-', '') + line.time.replaceAll(':', '');
  return `<STMTTRN><TRNTYPE>${kind}<DTPOSTED>${day}<TRNAMT>${amount(line.cents)}<FITID>${escaped(line.id)}<NAME>${name}<MEMO>${memo}</STMTTRN>`;
}

/** `20261031235959`, UTC. */
function moment(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
