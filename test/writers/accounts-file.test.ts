import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Line } from '../../src/books/statement-lines.ts';
import { CliError } from '../../src/core/errors.ts';
import { categoryOf } from '../../src/writers/accounts.ts';
import { readAccounts } from '../../src/writers/accounts-file.ts';
import { ascii, oneLine } from '../../src/writers/text.ts';

const read = (text: string) => readAccounts(text, 'accounts.yaml');

function faults(text: string): readonly string[] {
  try {
    read(text);
  } catch (error) {
    if (error instanceof CliError) return [error.facts.message, ...(error.facts.notes ?? [])];
    throw error;
  }
  return [];
}

const line = (over: Partial<Line>) => ({ counter: 'merchant', mcc: null, payee: '', ...over }) as Line;

describe('the accounts file', () => {
  const file = read(`version: 1
cards: Assets:Cards:C{last4}-{short}
rules:
  - { mcc: 5811-5814, account: Expenses:Meals }
  - { merchant: "CLOUD *", label: "saas*", account: Expenses:Hosting }
  - { metadata.team: "ads*", account: Expenses:Ads }
`);

  it('takes the first rule that fits, else the default', () => {
    expect(categoryOf(line({ mcc: '5812', payee: 'CLOUD ONE' }), { label: 'saas' }, file)).toBe('Expenses:Meals');
    expect(categoryOf(line({ payee: 'cloud one' }), { label: 'saas-1' }, file)).toBe('Expenses:Hosting');
    expect(categoryOf(line({ payee: 'CLOUD ONE' }), { label: 'ads' }, file)).toBe('Expenses:Uncategorized');
    expect(categoryOf(line({ payee: 'X' }), { label: null, metadata: '{"team":"ads-eu"}' }, file)).toBe('Expenses:Ads');
    expect(categoryOf(line({ counter: 'deposits' }), { label: null }, file)).toBe('Equity:Deposits');
  });

  it('the example has rules for a meal, a taxi and software, and the rest has a place', async () => {
    const path = join(import.meta.dirname, '../../examples/accounts.yaml');
    const example = readAccounts(await readFile(path, 'utf8'), path);
    const of = (over: Partial<Line>, label: string | null = null) => categoryOf(line(over), { label }, example);
    expect(of({ mcc: '5812' })).toBe('Expenses:Meals');
    expect(of({ mcc: '4121' })).toBe('Expenses:Travel:Taxi');
    expect(of({ mcc: '3501' }, 'travel: Berlin')).toBe('Expenses:Travel:Flights-And-Hotels');
    expect(of({ payee: 'Cloudhost GmbH' })).toBe('Expenses:Hosting');
    expect(of({}, 'saas-7')).toBe('Expenses:Software');
    expect(of({ mcc: '3501' }, 'ads')).toBe('Expenses:Uncategorized');
  });

  it('names every fault at once, with line and column', () => {
    const text = `version: 2
wallets: Assets:W
cards: Assets:Cards
deposits: equity
rules:
  - { mcc: 58, account: Expenses:Meals }
  - { merchant: [5], acount: X }
`;
    expect(faults(text)).toEqual([
      'accounts.yaml:1:10: version: must be 1',
      'accounts.yaml:2:1: wallets is not known here; did you mean wallet?',
      'accounts.yaml:3:8: cards: must have {short} in it: the last four digits of two cards may be equal',
      'accounts.yaml:4:11: deposits: must be an account of two parts or more, as Expenses:Meals: letters, digits and -, each part with a capital letter or a digit first',
      'accounts.yaml:6:12: rules[0].mcc: must be four digits or a range of them, as 5811-5814, not 58',
      'accounts.yaml:7:5: rules[1].account is missing',
      'accounts.yaml:7:17: rules[1].merchant: must be text; * stands for any text',
      'accounts.yaml:7:22: rules[1].acount is not known here; did you mean account?',
    ]);
    expect(faults('version: 1\ncards: "Assets:Cards:{short}"\n')).toEqual([
      expect.stringContaining(
        'each part with a capital letter or a digit first; {short} may begin with a small letter',
      ),
    ]);
    expect(faults('version: [')).toHaveLength(1);
    expect(faults('')).toEqual([
      'accounts.yaml:1:1: must be a map of version, wallet, cards, deposits, default, rules',
    ]);
  });
});

describe('texts of an export', () => {
  it('stay on their line and lose what is not shown', () => {
    expect(oneLine('two\r\nlines\u2028three\u202eright\u0000')).toBe('two lines three right');
    expect(ascii('Café Söhne 小')).toBe('Cafe Sohne ?');
  });
});
