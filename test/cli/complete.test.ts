import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ValueProvider } from '../../src/app/completion.ts';
import { completionText } from '../../src/cli/completion/complete.ts';
import { commandsOf } from '../../src/cli/parsing/declaration.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { contractValues, runWords } from './line.ts';

const settings = { registry: REGISTRY, provide: contractValues };

async function bash(line: string, provide: ValueProvider = contractValues): Promise<string[]> {
  const text = await completionText(['bash', line], { ...settings, provide });
  return text.split('\n').slice(0, -1);
}

const words = (text: string) => text.split(' ').filter(word => word !== '');

/** What sends something again, leaves out what tells it apart, or answers a question. */
const TYPED_BY_HAND = ['--yes', '--again', '--resend-absent', '--no-marker', '--reveal'];

it('no flag that can make something happen twice is ever offered, alone, first or among others', async () => {
  const groups = await Promise.all(REGISTRY.map(commandsOf));
  const seen = new Set<string>();
  for (const { path, args, flags } of groups.flat()) {
    for (const { name } of flags) if (TYPED_BY_HAND.includes(name)) seen.add(name);
    const objects = args.map(() => 'x').join(' ');
    const own = TYPED_BY_HAND.filter(word => word === '--yes' || flags.some(({ name }) => name === word));
    for (const line of [path, `${path} ${objects}`]) {
      const lines = ['', '--', ...own.map(name => name.slice(0, 4))];
      for (const typed of lines) {
        const offered = await bash(`cardwright ${line} ${typed}`);
        expect(
          offered.filter(each => TYPED_BY_HAND.includes(each)),
          `${line} ${typed}`,
        ).toEqual([]);
      }
    }
  }
  // Each of them is a flag of some command; --yes is one of all.
  expect([...seen, '--yes'].sort()).toEqual([...TYPED_BY_HAND].sort());
});

describe('what bash is offered', () => {
  it.each([
    ['cardwright ca', 'cards'],
    ['cardwright --sandbox ca', 'cards'],
    ['cardwright -p team ca', 'cards'],
    ['cardwright --profile=team ca', 'cards'],
    ['cardwright cards ', 'create list get search details exec lease fund withdraw freeze unfreeze terminate'],
    ['cardwright cards un', 'unfreeze'],
    ['cardwright sandbox sim', 'simulate'],
    ['cardwright sandbox simulate se', 'settle'],
    ['cardwright wallet ', 'addresses'],
    ['cardwright cards list --st', '--status'],
    ['cardwright cards list --status ', 'active frozen terminated'],
    ['cardwright cards list --status fr', 'frozen'],
    ['cardwright cards list --status=fr', '--status=frozen'],
    ['cardwright cards list --status=', '--status=active --status=frozen --status=terminated'],
    ['cardwright cards list --status "fr', 'frozen'],
    ["cardwright cards list --status 'fr", 'frozen'],
    ['cardwright cards "li', 'list'],
    ['cardwright "cards" li', 'list'],
    ['cardwright cards list --label "a b" --status fr', 'frozen'],
    ['cardwright cards list --label a\\ b --status fr', 'frozen'],
    ['cardwright cards list -o js', 'json'],
    ['cardwright cards list -qo nd', 'ndjson'],
    ['cardwright --color ', 'always auto never'],
    ['cardwright cards details card_1 --out ', ':files'],
    ['cardwright cards details card_1 --out=', ':files'],
    ['cardwright --contract ./o', ':files'],
    ['cardwright webhooks create --secret-file x', ':files'],
    ['cardwright webhooks create --event card.f', 'card.frozen card.funded'],
    ['cardwright webhooks create --event=card.funded,card.fr', '--event=card.funded,card.frozen'],
    ['cardwright bins pick --need 3ds,', '3ds,apple_pay 3ds,google_pay'],
    ['cardwright completion ', 'bash zsh fish powershell'],
    ['cardwright cards exec card_1 -- ./ch', ':files'],
    ['cardwright sandbox import ', ':files'],
    ['cardwright webhooks sign --payload ', ':files'],
    ['cardwright cards create --bin ', 'auto'],
    ['cardwright help exi', 'exit-codes'],
    ['cardwright fleet ', 'validate plan apply import'],
    ['cardwright fleet plan ', ':files'],
    ['cardwright fleet plan --out ', ':files'],
    ['cardwright fleet plan --exit-code ', 'any drift'],
    ['cardwright fleet apply --plan=', ':files'],
    ['cardwright help ca', 'cards'],
    ['cardwright help cards fu', 'fund'],
    ['cardwright wallet addresses --currency=', '--currency=btc --currency=eth --currency=sol --currency=usdt'],
  ])('%s', async (line, expected) => {
    const offered = await bash(line);
    expect(offered.toSorted()).toEqual(words(expected).toSorted());
  });

  it('offers an option once, a repeatable one again, and none after --', async () => {
    const after = await bash('cardwright cards create --bin b --metadata a=b --');
    expect(after).toContain('--metadata');
    expect(after).toContain('--amount');
    expect(after).not.toContain('--bin');
    expect(await bash('cardwright -ojson cards list --ou')).toEqual([]);
    expect(await bash('cardwright cards list -- --')).toEqual([]);
  });

  it('offers the flags of the command before those of every command', async () => {
    expect((await bash('cardwright cards create ')).slice(0, 2)).toEqual(['--bin', '--amount']);
    expect((await bash('cardwright cards fund card_1 '))[0]).toBe('--amount');
  });
});

describe('the protocol', () => {
  it.each([[[]], [['bash']], [['zsh']], [['tcsh', 'cards', '']], [['bash', '\u0000\u001b"\'\\']]])(
    'is silent and ends with 0 for %j',
    async rest => {
      const { code, err } = await runWords(['__complete', ...rest]);
      expect({ code, err }).toEqual({ code: 0, err: '' });
    },
  );

  it('offers nothing that could act in a shell, whatever stands on the line', async () => {
    const piece = fc.constantFrom(
      'cards',
      'list',
      'wallet',
      '--status',
      '--',
      '-o',
      '"',
      "'",
      '\\',
      ' ',
      '=',
      '$(x)',
      'help',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 8 }), async pieces => {
        for (const line of await bash(`cardwright ${pieces.join(' ')}`)) {
          expect(line === ':files' || /^[A-Za-z0-9._:@/+=,-]+$/.test(line), line).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });
});
