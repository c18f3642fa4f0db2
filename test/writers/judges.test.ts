/** Programs of accountants that nobody here wrote, as judges of every format of an export. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type StatementAccount, statementOf } from '../../src/books/statement.ts';
import { accountNumber, DEFAULT_ACCOUNTS, displayName, ledgerName } from '../../src/writers/accounts.ts';
import { ofxFile, qifFile } from '../../src/writers/banks.ts';
import { csvFiles } from '../../src/writers/csv.ts';
import { journalFile } from '../../src/writers/journals.ts';
import type { Piece } from '../../src/writers/text.ts';
import { requires } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type KeptStatement, kept, simulated, withACentMore } from './month.ts';

const textOf = (pieces: Iterable<Piece>) => [...pieces].map(({ text }) => text).join('');

/** Which statement, and cents of each account by card id, `wallet` for the wallet. */
interface Judged {
  readonly statement: KeptStatement;
  readonly expected: ReadonlyMap<string, number>;
}

const noBeancount = requires('beancount');

function run(program: string, words: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    input,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    maxBuffer: 2 ** 30,
  });
  return { status, stdout, stderr };
}

/** A life checkpoint in three at midnights, and cents of each account at its end. */
interface Months {
  readonly months: readonly KeptStatement[];
  readonly expected: ReadonlyMap<string, number>;
}

/** One journal includes a file a month: the programs find the closing balances of each, and the sums of all. */
async function monthsGoTogether({ months, expected }: Months): Promise<void> {
  const folder = await temporaryFolder();
  afterAll(() => folder[Symbol.asyncDispose]());
  const file = (name: string, text: string) => {
    const path = join(folder.path, name);
    writeFileSync(path, text);
    return path;
  };
  const cards = [...new Map(months.flatMap(({ accounts }) => accounts.map(each => [each.card_id, each]))).values()];
  const wanted = Object.fromEntries(
    cards.flatMap(card => {
      const sum = expected.get(card.card_id ?? 'wallet');
      return sum === 0 ? [] : [[ledgerName(card, DEFAULT_ACCOUNTS), sum]];
    }),
  );
  const included = (ending: string, write: (month: KeptStatement, continues: boolean) => Iterable<Piece>) => {
    const word = ending === 'beancount' ? 'include "FILE"' : 'include FILE';
    const journal = (name: string, of: readonly KeptStatement[], isContinued: (nth: number) => boolean) => {
      const paths = of.map((month, nth) => file(`${name}-${nth}.${ending}`, textOf(write(month, isContinued(nth)))));
      return file(`${name}.${ending}`, paths.map(path => `${word}\n`.replace('FILE', path)).join(''));
    };
    return {
      main: journal('main', months, nth => nth > 0),
      wrong: [journal('twice', months, () => false), journal('cent', months.map(withACentMore), nth => nth > 0)],
    };
  };
  const summed = (text: string, row: RegExp) =>
    Object.fromEntries(
      [...text.matchAll(row)].flatMap(([, name = '', sum = '']) =>
        Number(sum) === 0 ? [] : [[name, Math.round(Number(sum) * 100)]],
      ),
    );

  describe('months that are included by one journal', () => {
    it.skipIf(requires('hledger'))('hledger, and it refuses a second opening and a changed cent', () => {
      const { main, wrong } = included('journal', (month, continues) =>
        journalFile(month, 'hledger', DEFAULT_ACCOUNTS, continues),
      );
      expect(run('hledger', ['-f', main, 'check', '--strict']).stderr).toBe('');
      const { stdout } = run('hledger', ['-f', main, 'bal', 'Assets', '-N', '--flat', '-O', 'csv']);
      expect(summed(stdout, /^"([^"]+)","(-?[\d.]+) USD"$/gm)).toEqual(wanted);
      for (const each of wrong) expect(run('hledger', ['-f', each, 'check', '--strict']).status).not.toBe(0);
    });

    it.skipIf(requires('ledger'))('ledger, and it refuses a second opening and a changed cent', () => {
      const { main, wrong } = included('ledger', (month, continues) =>
        journalFile(month, 'ledger', DEFAULT_ACCOUNTS, continues),
      );
      const format = '%(account) %(quantity(scrub(display_total)))\n';
      const asked = ['--args-only', '--pedantic', 'bal', 'Assets', '--flat', '--no-total', '--balance-format', format];
      const { stdout, stderr } = run('ledger', [...asked, '-f', main]);
      expect(stderr).toBe('');
      expect(summed(stdout, /^(\S+) (-?[\d.]+)$/gm)).toEqual(wanted);
      for (const each of wrong) expect(run('ledger', [...asked, '-f', each]).status).not.toBe(0);
    });

    it.skipIf(noBeancount)('beancount, and it refuses a second opening and a changed cent', () => {
      const { main, wrong } = included('beancount', (month, continues) =>
        journalFile(month, 'beancount', DEFAULT_ACCOUNTS, continues),
      );
      expect(run('bean-check', ['-C', main])).toEqual({ status: 0, stdout: '', stderr: '' });
      const query = "select account, sum(number) where account ~ 'Assets' group by account";
      const { stdout } = run('bean-query', ['-q', '-f', 'csv', main, query]);
      expect(summed(stdout, /^(Assets\S+?)\s*,\s*(-?[\d.]+)\s*$/gm)).toEqual(wanted);
      for (const each of wrong) expect(run('bean-check', ['-C', each]).status).not.toBe(0);
    });
  });
}

/** Registers a test a program; those that are not here are named and skipped. */
async function judgesAgree({ statement, expected }: Judged): Promise<void> {
  const folder = await temporaryFolder();
  afterAll(() => folder[Symbol.asyncDispose]());
  const changed = withACentMore(statement);

  /** Cents of each account as the ledger rules have them, under the name a format gives it. */
  function wanted(nameOf: (account: StatementAccount) => string): Record<string, number> {
    const named = statement.accounts.map(
      account => [nameOf(account), expected.get(account.card_id ?? 'wallet') ?? Number.NaN] as const,
    );
    return Object.fromEntries(named);
  }

  function file(name: string, text: string): string {
    const path = join(folder.path, name);
    writeFileSync(path, text);
    return path;
  }

  const cents = (text: string) => Math.round(Number(text.replaceAll(',', '')) * 100);
  const withoutNothing = (sums: Record<string, number>) =>
    Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0));

  const bankFile = (statement: KeptStatement) => textOf(ofxFile(statement));

  /** What ofxdump says: sums of the lines, closing balances, and (account, id) of every line. */
  function readBank(dumped: string) {
    const [sums, closing]: Record<string, number>[] = [{}, {}];
    const ids: string[] = [];
    for (const block of dumped.split('\n\n')) {
      const account = /Account ID\s*: \d+\s+(\S+)/.exec(block)?.[1];
      if (account === undefined) continue;
      const amount = /Total money amount: (-?[\d.]+)/.exec(block)?.[1];
      const balance = /Ledger balance: (-?[\d.]+)/.exec(block)?.[1];
      if (sums !== undefined) sums[account] = (sums[account] ?? 0) + (amount === undefined ? 0 : cents(amount));
      if (balance !== undefined && closing !== undefined) closing[account] = cents(balance);
      if (amount !== undefined) ids.push(`${account} ${/ID for this transaction: (\S+)/.exec(block)?.[1]}`);
    }
    return { sums: sums ?? {}, closing: closing ?? {}, ids };
  }

  describe('readers that nobody here wrote agree to the cent', () => {
    it.skipIf(requires('hledger'))('what open authorizations hold stands beside its account, pending', () => {
      const card = statement.accounts.find(account => account.kind === 'card' && account.closing > 1_00);
      if (card === undefined) throw new RangeError('no card with money');
      const { card_id } = card;
      const hold = { id: 'txn_open', at: statement.period.to - 1, date: statement.days.last, cents: 99, payee: 'A; B' };
      // One account is enough, and Python is slow.
      const held: KeptStatement = { ...statement, accounts: [card], holds: [{ ...hold, card_id: card_id ?? '' }] };
      const path = file('held.journal', textOf(journalFile(held, 'hledger', DEFAULT_ACCOUNTS)));
      expect(run('hledger', ['-f', path, 'check', '--strict']).stderr).toBe('');
      const { stdout } = run('hledger', ['-f', path, 'bal', ':Holds$', '-N', '--flat', '--pending']);
      expect(stdout).toMatch(/^\s*0\.99 USD {2}\S+:Holds\n$/);
      if (noBeancount === undefined) {
        const other = file('held.beancount', textOf(journalFile(held, 'beancount', DEFAULT_ACCOUNTS)));
        expect(run('bean-check', ['-C', other])).toEqual({ status: 0, stdout: '', stderr: '' });
      }
      if (!requires('ledger')) {
        const other = file('held.ledger', textOf(journalFile(held, 'ledger', DEFAULT_ACCOUNTS)));
        expect(run('ledger', ['--args-only', '--pedantic', 'bal', ':Holds', '-f', other]).stderr).toBe('');
      }
    });

    it.skipIf(requires('ofxdump'))('libofx: the lines of an account make its closing, and no id comes twice', () => {
      const text = bankFile(statement);
      // Readers of OFX take UTF-8.
      expect(text).toMatch(/^[\r\n -~\p{L}\p{M}\p{N}\p{P}]*$/u);
      const read = readBank(run('ofxdump', [file('x.ofx', text)]).stdout);
      expect(read.sums).toEqual(wanted(accountNumber));
      expect(withoutNothing(read.closing)).toEqual(withoutNothing(read.sums));
      expect(read.ids.length).toBe(statement.accounts.reduce((sum, account) => sum + account.lines.length, 0));
      expect(new Set(read.ids).size).toBe(read.ids.length);
      const wrong = bankFile(changed);
      const other = readBank(run('ofxdump', [file('wrong.ofx', wrong)]).stdout);
      expect(withoutNothing(other.closing)).not.toEqual(withoutNothing(other.sums));
    });

    it.skipIf(requires('ofxdump'))('libofx reads each file of QuickBooks, an account a file', () => {
      const files = statement.accounts.map(account => textOf(ofxFile({ ...statement, accounts: [account] }, '3000')));
      const sums = files.map((text, at) => readBank(run('ofxdump', [file(`${at}.qbo`, text)]).stdout).sums);
      expect(sums.every(each => Object.keys(each).length === 1)).toBe(true);
      expect(Object.assign({}, ...sums)).toEqual(wanted(accountNumber));
    });

    it.skipIf(requires('hledger'))('hledger imports the CSV once: a second time adds nothing', () => {
      const [pieces = []] = csvFiles(statement, { layout: 'plain', accounts: DEFAULT_ACCOUNTS, raw: false });
      const path = file('import.csv', textOf(pieces));
      file(
        'import.csv.rules',
        'skip 1\nfields date,time,account,card,last4,label,type,amount,currency,b,description\naccount1 assets:%account\n',
      );
      const journal = file('import.journal', '');
      const first = run('hledger', ['-f', journal, 'import', path]);
      expect(first.stdout + first.stderr).toMatch(/imported \d{3,} new transactions/);
      const second = run('hledger', ['-f', journal, 'import', path]);
      expect(second.stdout + second.stderr).toMatch(/no new transactions found/);
    });

    it.skipIf(requires('finance-qif'))('Finance::QIF', () => {
      const path = file('x.qif', textOf(qifFile(statement, DEFAULT_ACCOUNTS)));
      const script = `use Finance::QIF; my $in = Finance::QIF->new(file => $ARGV[0], autodetect => 1); my ($name, %sum); while (my $r = $in->next) { if ($r->{header} eq 'Account') { $name = $r->{name} } else { $sum{$name} += int(sprintf('%.0f', $r->{transaction} * 100)) } } print "$_\\t$sum{$_}\\n" for sort keys %sum;`;
      const { stdout, stderr } = run('perl', ['-e', script, path]);
      expect(stderr).toBe('');
      const sums = stdout
        .trim()
        .split('\n')
        .map(line => line.split('\t'))
        .map(([name = '', sum]) => [name, Number(sum)]);
      expect(Object.fromEntries(sums)).toEqual(wanted(displayName));
    });

    it.skipIf(requires('sqlite3'))('sqlite3 reads the CSV: last balance and sum of each account', () => {
      const [pieces = []] = csvFiles(statement, { layout: 'plain', accounts: DEFAULT_ACCOUNTS, raw: false });
      const path = file('x.csv', textOf(pieces));
      const asked = `.import --csv ${path} t\n.mode list\nselect account, sum(cast(round(amount * 100) as integer)) from t group by account;\n`;
      const { stdout, stderr } = run('sqlite3', [':memory:'], asked);
      expect(stderr).toBe('');
      const sums = stdout
        .trim()
        .split('\n')
        .map(line => line.split('|'))
        .map(([name = '', sum]) => [name, Number(sum)]);
      expect(withoutNothing(Object.fromEntries(sums))).toEqual(withoutNothing(wanted(displayName)));
    });
  });
}

const { statement, expected, verdict } = simulated(7, 420);

it('a life of some hundred lines is balanced', () => {
  const lines = statement.accounts.reduce((sum, account) => sum + account.lines.length, 0);
  expect({ lines: lines > 250, verdict }).toEqual({ lines: true, verdict: 'balanced' });
});

await judgesAgree({ statement, expected });

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const life = simulated(7, 420, () => undefined, 2 * HOUR);

it('a life of some weeks is balanced', () => {
  expect({ verdict: life.verdict, weeks: life.input.period.to - life.input.period.from > 20 * DAY }).toEqual({
    verdict: 'balanced',
    weeks: true,
  });
});

const { from, to } = life.input.period;
// The books begin with money on cards.
const ends = [from + 5 * DAY, from + 12 * DAY, from + 19 * DAY, to];
const months = ends.slice(1).map((end, nth) => {
  const period = { name: `part ${nth}`, from: ends[nth] ?? from, to: end };
  return kept(statementOf({ ...life.input, period }));
});
await monthsGoTogether({ months, expected: life.expected });
