/** The accounts file of journals: read whole, every fault with its place. */
import { glob } from '../core/text.ts';
import { listOf, members, notKnown, readAs, readYamlFile, TEXT, VERSION, v } from '../terminal/yaml-file.ts';
import { type AccountRule, type AccountsFile, DEFAULT_ACCOUNTS } from './accounts.ts';

/** What hledger, ledger and beancount all take for an account. */
const ACCOUNT = v.pipe(
  TEXT,
  v.regex(
    /^[A-Z][A-Za-z0-9-]*(?::[A-Z0-9][A-Za-z0-9-]*)+$/,
    'must be an account of two parts or more, as Expenses:Meals: letters, digits and -, each part with a capital letter or a digit first',
  ),
);

/** An account of each card, its name filled in. */
const OF_CARDS = v.pipe(
  TEXT,
  v.check(
    text => v.is(ACCOUNT, text.replace(/\{last4\}/g, '4242').replace(/\{(?:short|label)\}/g, 'abcdef')),
    'must be an account of two parts or more, as Assets:Cards:C{last4}-{short}: letters, digits and -, each part with a capital letter or a digit first; {short} may begin with a small letter',
  ),
  v.includes('{short}', 'must have {short} in it: the last four digits of two cards may be equal'),
);

function codesOf(written: string): readonly [string, string] | undefined {
  const [, first, last = first] = /^(\d{4})(?:-(\d{4}))?$/.exec(written) ?? [];
  return first !== undefined && last !== undefined && first <= last ? [first, last] : undefined;
}

/** `CLOUD *`: any text for `*`, large or small letters alike. */
function globOf(pattern: string): ((text: string) => boolean) | undefined {
  const fits = glob(pattern.toLowerCase());
  return pattern === '' ? undefined : text => fits(text.toLowerCase());
}

const GLOB_WORDS = 'must be text; * stands for any text';
const GLOB = readAs(globOf, GLOB_WORDS, { type: 'string' });
const TESTS = {
  mcc: v.optional(readAs(codesOf, 'must be four digits or a range of them, as 5811-5814', { type: 'string' })),
  merchant: v.optional(GLOB),
  label: v.optional(GLOB),
};
const METADATA = 'metadata.';
const WORDS = [...Object.keys(TESTS), `${METADATA}<key>`, 'account'];

const isTag = (key: string) => key.startsWith(METADATA) && key.length > METADATA.length;

const RULE = v.pipe(
  v.looseObject({ ...TESTS, account: ACCOUNT }, `must be a map of ${WORDS.join(', ')}`),
  v.rawCheck(({ dataset: { value }, addIssue }) => {
    const input = value as Readonly<Record<string, unknown>>;
    for (const [key, written] of Object.entries(input)) {
      const path = (origin: 'key' | 'value') => [{ type: 'object', origin, input, key, value: written }] as const;
      if (!isTag(key) && !WORDS.includes(key)) addIssue({ path: [...path('key')], message: notKnown(key, WORDS) });
      else if (isTag(key) && !v.is(GLOB, written)) addIssue({ path: [...path('value')], message: GLOB_WORDS });
    }
    if (Object.keys(input).every(key => key === 'account'))
      addIssue({ message: `has none of ${WORDS.slice(0, -1).join(', ')}` });
  }),
  v.transform(({ mcc, merchant, label, account, ...others }): AccountRule => {
    const metadata = Object.entries(others).map(([key, glob]) => ({
      key: key.slice(METADATA.length),
      value: v.parse(GLOB, glob),
    }));
    return { mcc, merchant, label, metadata, account };
  }),
);

const ACCOUNTS = members({
  version: VERSION,
  wallet: v.optional(ACCOUNT, DEFAULT_ACCOUNTS.wallet),
  cards: v.optional(OF_CARDS, DEFAULT_ACCOUNTS.cards),
  deposits: v.optional(ACCOUNT, DEFAULT_ACCOUNTS.deposits),
  default: v.optional(ACCOUNT, DEFAULT_ACCOUNTS.default),
  rules: v.optional(listOf(RULE), []),
});

/** `file` is what the user called it. Throws `usage` with every fault of the file. */
export function readAccounts(text: string, file: string): AccountsFile {
  return readYamlFile(text, ACCOUNTS, { file, hint: 'cardwright books export --help' }).value;
}
