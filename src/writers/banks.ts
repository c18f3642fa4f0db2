/**
 * A statement in the formats of banks. OFX 1.0.3, and the QBO of QuickBooks: one bank account a card, ids that make a second
 * import add nothing. QIF: readers ignore its ids, and a second import doubles everything.
 */
import type { WallClock } from '../books/period.ts';
import type { Statement } from '../books/statement.ts';
import type { Line } from '../books/statement-lines.ts';
import { type AccountsFile, accountNumber, categoryOf, displayName, type Named } from './accounts.ts';
import { openingText } from './journals.ts';
import { amount, ascii, day, oneLine, type Piece, PROVISIONAL, short } from './text.ts';

/** QuickBooks reads ASCII; readers of OFX take UTF-8. */
const header = (isQbo: boolean) => [
  'OFXHEADER:100',
  'DATA:OFXSGML',
  `VERSION:${isQbo ? '102' : '103'}`,
  'SECURITY:NONE',
  `ENCODING:${isQbo ? 'USASCII' : 'UTF-8'}`,
  `CHARSET:${isQbo ? '1252' : 'NONE'}`,
  'COMPRESSION:NONE',
  'OLDFILEUID:NONE',
  'NEWFILEUID:NONE',
  '',
];

/** One file with every account; `intuBid`, the number of the bank that QuickBooks knows, makes it a QBO: give one account then. */
export function* ofxFile(statement: Statement, intuBid?: string): Generator<Piece> {
  const { accounts, clock, until, period } = statement;
  const bank = intuBid === undefined ? undefined : escaped(intuBid);
  const head = [
    ...header(bank !== undefined),
    '<OFX>',
    '<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>',
    // What is shown reaches to it: the same checkpoints give the same bytes.
    `<DTSERVER>${moment(clock, until)}<LANGUAGE>ENG`,
    ...(bank === undefined ? [] : [`<FI><ORG>CARDWRIGHT<FID>${bank}</FI><INTU.BID>${bank}`]),
    '</SONRS></SIGNONMSGSRSV1>',
    '<BANKMSGSRSV1>',
    '',
  ];
  yield { text: head.join('\r\n'), lines: 0 };
  /** A text in the characters that the reader takes. */
  const words = bank === undefined ? oneLine : ascii;
  let nth = 0;
  for (const account of accounts) {
    nth += 1;
    const { closing, knownSince, atBegin = closing, provisional } = account;
    // The balance that is known at the end of what is shown, or else the first one after it.
    const isKnown = knownSince === undefined || knownSince < until;
    const [balance, at] = isKnown ? [closing, until] : [atBegin, knownSince];
    const [reason] = provisional;
    const lines = [
      `<STMTTRNRS><TRNUID>${nth}<STATUS><CODE>0<SEVERITY>INFO</STATUS>`,
      '<STMTRS><CURDEF>USD',
      `<BANKACCTFROM><BANKID>000000000<ACCTID>${accountNumber(account)}<ACCTTYPE>CHECKING</BANKACCTFROM>`,
      `<BANKTRANLIST><DTSTART>${moment(clock, period.from)}<DTEND>${moment(clock, until)}`,
      ...account.lines.map(line => transaction(line, clock, words)),
      '</BANKTRANLIST>',
      `<LEDGERBAL><BALAMT>${amount(balance)}<DTASOF>${moment(clock, at)}</LEDGERBAL>`,
      ...(reason === undefined ? [] : [`<MKTGINFO>${escaped(short(words(`${PROVISIONAL} ${reason}`), 360))}`]),
      '</STMTRS></STMTTRNRS>',
    ];
    yield { text: `${lines.join('\r\n')}\r\n`, lines: account.lines.length };
  }
  yield { text: '</BANKMSGSRSV1>\r\n</OFX>\r\n', lines: 0 };
}

function transaction(line: Line, clock: WallClock, words: (text: string) => string): string {
  const kind = line.type === 'transfer' ? 'XFER' : line.cents < 0 ? 'DEBIT' : 'CREDIT';
  const name = escaped(short(words(line.payee) || line.type, 32));
  const memo = escaped(short(words([line.type, line.mcc, line.country, line.purpose].filter(Boolean).join(' ')), 255));
  return `<STMTTRN><TRNTYPE>${kind}<DTPOSTED>${moment(clock, line.at)}<TRNAMT>${amount(line.cents)}<FITID>${escaped(line.id)}<NAME>${name}<MEMO>${memo}</STMTTRN>`;
}

/** `20261031235959[-4:EDT]`: the wall of the zone, and how far it is from GMT. */
function moment(clock: WallClock, ms: number): string {
  return `${clock.dateAt(ms).replaceAll('-', '')}${clock.timeAt(ms).replaceAll(':', '')}${clock.offsetText(ms)}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// QIF.

/** One file with an account after the other, each opened by its balance, where it does not continue an earlier file. */
export function* qifFile(statement: Statement, accounts: AccountsFile, continues = false): Generator<Piece> {
  const { accounts: each, days } = statement;
  const names = namesIn(statement);
  for (const account of each) {
    const name = displayName(account);
    // Programs know an opening by this payee, whatever it is worth.
    const opening = [
      `D${day(days.first, 'MM/DD/YYYY')}`,
      `T${amount(account.opening)}`,
      'C*',
      'POpening Balance',
      ...(account.knownSince === undefined ? [] : [`M${openingText(account)}`]),
      `L[${name}]`,
      '^',
    ];
    const lines = [
      '!Account',
      `N${name}`,
      'TBank',
      ...account.provisional.slice(0, 1).map(reason => `D${PROVISIONAL} ${ascii(reason)}`),
      '^',
      '!Type:Bank',
      ...(continues ? [] : opening),
      ...account.lines.flatMap(line => {
        const other = account.kind === 'wallet' ? names.get(line.card_id) : names.get(null);
        const isNamed = line.type === 'transfer' && other !== undefined;
        return [
          `D${day(line.date, 'MM/DD/YYYY')}`,
          `T${amount(line.cents)}`,
          'C*',
          `N${ascii(line.id)}`,
          `P${ascii(line.payee) || line.type}`,
          ...(line.purpose === '' ? [] : [`M${ascii(line.purpose)}`]),
          `L${isNamed ? `[${other}]` : categoryOf(line, account, accounts)}`,
          '^',
        ];
      }),
    ];
    yield { text: `${lines.join('\r\n')}\r\n`, lines: account.lines.length };
  }
}

/** Accounts that a transfer names, also those that stand in another file: a program knows both sides by their names. */
function namesIn({ cards }: Statement): ReadonlyMap<string | null, string> {
  const named: readonly Named[] = [
    { kind: 'wallet', card_id: null, last4: null },
    ...cards.map(({ card_id, last4 }) => ({ kind: 'card' as const, card_id, last4 })),
  ];
  return new Map(named.map(each => [each.card_id, displayName(each)]));
}
