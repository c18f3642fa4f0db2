/**
 * Accounts of the sandbox with hundreds and with a hundred thousand lines, from the service through mirror, reconcile and
 * export to programs that nobody here wrote. The service says what must come of it: deposited less spent. What each judge
 * says is printed side by side.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requires } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js');
const FORMATS = ['hledger', 'ledger', 'beancount', 'qbo', 'qif', 'csv'] as const;
/** Read record by record by Python: minutes for a hundred thousand entries. */
const PATIENCE_MS = 3_000_000;

interface Told {
  readonly lines: number;
  readonly cents: number;
}

/** One file, or of QuickBooks an account a file. */
type Judge = (path: string, paths: readonly string[]) => Told;

function run(words: readonly [string, ...string[]], options: { input?: string; env?: NodeJS.ProcessEnv } = {}): string {
  const [program, ...rest] = words;
  const { status, stdout, stderr } = spawnSync(program, rest, {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    input: options.input ?? '',
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...options.env },
  });
  expect({ words: words.slice(0, 4), status, stderr: status === 0 ? '' : stderr }).toMatchObject({
    status: 0,
    stderr: '',
  });
  return stdout;
}

const cents = (text: string) => Math.round(Number(text.replaceAll(',', '')) * 100);
const sum = (amounts: Iterable<number>) => [...amounts].reduce((total, amount) => total + amount, 0);
const matches = (text: string, form: RegExp) => [...text.matchAll(form)].map(([, amount = '']) => cents(amount));

/** Sum of all accounts that are ours, and how many entries it found, a program. */
const JUDGES: Readonly<Record<(typeof FORMATS)[number], { readonly needs: string; readonly judge: Judge }>> = {
  hledger: {
    needs: 'hledger',
    judge(path) {
      run(['hledger', '-f', path, 'check', '--strict']);
      const sums = run(['hledger', '-f', path, 'bal', 'Assets', '-N', '--flat', '-O', 'csv']);
      const counted = run(['hledger', '-f', path, 'stats']);
      const lines = Number(/(?:Txns|Transactions)\s*:\s*(\d+)/.exec(counted)?.[1]);
      return { lines, cents: sum(matches(sums, /"(-?[\d.]+) USD"$/gm)) };
    },
  },
  ledger: {
    needs: 'ledger',
    judge(path) {
      const words = ['ledger', '--args-only', '--pedantic', '-f', path] as const;
      const lines = run([...words, 'reg', 'Assets', '--format', 'x\n']).split('\n').length - 1;
      const sums = run([...words, 'bal', 'Assets', '--flat', '--no-total']);
      return { lines, cents: sum(matches(sums, /^\s*(-?[\d.,]+) USD\s+\S+$/gm)) };
    },
  },
  beancount: {
    needs: 'beancount',
    judge(path) {
      run(['bean-check', '-C', path]);
      const query = "select sum(number), count(number) where account ~ 'Assets'";
      const [, total = '', lines = ''] =
        /(-?[\d.]+)\s*,\s*(\d+)/.exec(run(['bean-query', '-q', '-f', 'csv', path, query])) ?? [];
      return { lines: Number(lines), cents: cents(total) };
    },
  },
  qbo: {
    needs: 'ofxdump',
    judge(_, paths) {
      const read = paths.map(path => spawnSync('ofxdump', [path], { encoding: 'utf8', maxBuffer: 2 ** 30 }).stdout);
      return {
        lines: sum(read.map(text => matches(text, /Total money amount: (-?[\d.]+)/g).length)),
        cents: sum(read.flatMap(text => matches(text, /Ledger balance: (-?[\d.]+)/g))),
      };
    },
  },
  qif: {
    needs: 'finance-qif',
    judge(path) {
      const script = `use Finance::QIF; my $in = Finance::QIF->new(file => $ARGV[0], autodetect => 1); my ($n, $sum) = (0, 0); while (my $r = $in->next) { next if $r->{header} eq 'Account'; $n++; $sum += int(sprintf('%.0f', $r->{transaction} * 100)) } print "$n $sum\\n";`;
      const [lines, total] = run(['perl', '-e', script, path]).trim().split(' ').map(Number);
      return { lines: lines ?? 0, cents: total ?? Number.NaN };
    },
  },
  csv: {
    needs: 'sqlite3',
    judge(path) {
      const asked = `.import --csv ${path} t\n.mode list\nselect count(*), sum(cast(round(amount * 100) as integer)) from t;\n`;
      const [lines, total] = run(['sqlite3', ':memory:'], { input: asked }).trim().split('|').map(Number);
      return { lines: lines ?? 0, cents: total ?? Number.NaN };
    },
  },
};

it.each([
  { cards: 40, transactions: 700 },
  { cards: 1_000, transactions: 235_000 },
])(
  'a sandbox of $transactions records: every judge says what the service says',
  async ({ cards, transactions }) => {
    await using folder = await temporaryFolder();
    const env = { CARDWRIGHT_CONFIG_DIR: folder.path, HOME: folder.path };
    const cardwright = (line: string) =>
      run([process.execPath, PROGRAM, '--sandbox', ...line.split(' ')], { env }).trim();
    cardwright(`sandbox reset --data load --cards ${cards} --transactions ${transactions} --yes -q`);
    const [first = '', last = ''] = cardwright(`cards list --all --json --jq [.data[].created_at]|min`).split('T');
    expect([first, last].every(Boolean)).toBe(true);
    expect(cardwright('books reconcile -q')).toBe('baseline');
    // A whole day behind everything, so that the period ends before the checkpoint that proves it.
    const end = cardwright('sandbox clock advance --by 2d -q').slice(0, 10);
    expect(cardwright('books reconcile -q')).toBe('balanced');
    const wallet = JSON.parse(cardwright('wallet --json')) as Record<'total_deposited' | 'total_spent', number>;
    const truth = Math.round(wallet.total_deposited * 100) - Math.round(wallet.total_spent * 100);
    const day = new Date(Date.parse(end) - 86_400_000).toISOString().slice(0, 10);
    const told: [string, Told][] = [];
    for (const format of FORMATS) {
      const { needs, judge } = JUDGES[format];
      if (requires(needs)) continue;
      const paths = cardwright(
        `books export --format ${format} --period ${first}..${day} --offline --out ${folder.path}/books -q`,
      ).split('\n');
      told.push([`${needs}, ${format}`, judge(paths[0] ?? '', paths)]);
    }
    const shown = told.map(
      ([name, { lines, cents: total }]) =>
        `${name.padEnd(22)}${`${lines}`.padStart(9)} entries${(total / 100).toFixed(2).padStart(14)} USD`,
    );
    process.stdout.write(
      `${transactions} records, ${cards} cards; deposited less spent ${(truth / 100).toFixed(2)} USD\n${shown.join('\n')}\n`,
    );
    expect(told.map(([name, { cents: total }]) => [name, total])).toEqual(told.map(([name]) => [name, truth]));
  },
  PATIENCE_MS,
);
