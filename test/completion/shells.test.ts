/** TAB in real shells; all lines in the whole run. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { home, ROOT } from '../package/built.ts';
import { requires } from '../support/programs.ts';
import { isWhole } from '../support/whole.ts';
import { missing, openShell, type PlantedCard, plain, programIn, SHELLS } from './shell-session.ts';

/** Texts that act on a terminal or in a shell that does not keep them apart from what it runs. */
const HOSTILE_CARDS: readonly PlantedCard[] = [
  { id: 'card_one', label: '$(touch ran) `touch ran` ; touch ran' },
  { id: 'card_two', label: 'a\nb\tc\r\u001b[31mred\u001b]0;title\u0007\u009b31m' },
  { id: 'card_three', label: `it's "quoted": 'x':y \\ %F{red} $HOME *` },
  { id: 'card_frozen', status: 'frozen', label: '\u202eevil\u2066\u200b 広告' },
  // These are never offered.
  { id: 'card_$(touch ran)', label: 'x' },
  { id: 'card_ 4;touch ran', label: 'x' },
  { id: '4242424242424242', label: 'x' },
];

type Case = readonly [typed: string, words: readonly string[]];

/** Enough to see that a shell asks and inserts; the others take longer. */
const FEW: readonly Case[] = [
  ['cardwright cards list --status=fr\t', ['cardwright', 'cards', 'list', '--status=frozen']],
  ['cardwright webhooks sign --payload my\t', ['cardwright', 'webhooks', 'sign', '--payload', 'my file.json']],
];

const MORE: readonly Case[] = [
  ['cardwright cards get card_th\t', ['cardwright', 'cards', 'get', 'card_three']],
  ['cardwright car\tcr\t--lab\tx', ['cardwright', 'cards', 'create', '--label', 'x']],
  // No operation is open: nothing is inserted, and never what sends something again.
  ['cardwright ops resume \t--dry-run', ['cardwright', 'ops', 'resume', '--dry-run']],
  ['cardwright ops resume op_1 --resend\t', ['cardwright', 'ops', 'resume', 'op_1', '--resend']],
  ['cardwright cards list --stat\tfr\t', ['cardwright', 'cards', 'list', '--status', 'frozen']],
  ['cardwright cards create --bin bin_o\t', ['cardwright', 'cards', 'create', '--bin', 'bin_one']],
  ['cardwright cards create --bin=bin_t\t', ['cardwright', 'cards', 'create', '--bin=bin_two']],
  ['cardwright cards unfreeze card\t', ['cardwright', 'cards', 'unfreeze', 'card_frozen']],
  ['cardwright cards freeze card_one card_tw\t', ['cardwright', 'cards', 'freeze', 'card_one', 'card_two']],
  ['cardwright cards get --profile te\t', ['cardwright', 'cards', 'get', '--profile', 'team']],
  ['cardwright -p te\t', ['cardwright', '-p', 'team']],
  ['cardwright webhooks create --event card.fu\t', ['cardwright', 'webhooks', 'create', '--event', 'card.funded']],
  ['cardwright --contract=my\t', ['cardwright', '--contract=my file.json']],
  [
    'cardwright cards exec card_one --reveal -- oth\t',
    ['cardwright', 'cards', 'exec', 'card_one', '--reveal', '--', 'other.json'],
  ],
  [
    'cardwright cards list --label "ü 広" --status te\t',
    ['cardwright', 'cards', 'list', '--label', 'ü 広', '--status', 'terminated'],
  ],
  ["cardwright cards get 'card_th\t", ['cardwright', 'cards', 'get', 'card_three']],
  ['cardwright no-such-word x\t', ['cardwright', 'no-such-word', 'x']],
];

describe.each(SHELLS)('TAB in a real %s', shell => {
  const why = missing(shell);

  it('completes commands, flags, choices, cards and files; labels are inert, and no secret is offered', async ({
    skip,
  }) => {
    if (why !== undefined) return skip(why);
    await using session = await openShell(shell, HOSTILE_CARDS);
    for (const [typed, words] of isWhole ? [...FEW, ...MORE] : FEW)
      expect.soft(await session.words(typed), typed).toEqual(words);
    const seen = await session.shown('cardwright cards get card_\t\t', /card_three/);
    if (shell !== 'bash') {
      expect(plain(seen)).toContain('visa 4242, active');
      expect(plain(seen)).toContain('$(touch ran)');
      expect(seen).not.toMatch(/\x1b\[31mred|\x1b\]0;title|\x9b|[\u202e\u2066\u200b]/);
    }
    expect(seen).not.toMatch(/4242424242424242|card_ 4|card_\$/);
    // The word under the cursor is another matter: zsh itself expands it at TAB, whatever the command.
    const ran = '$(touch ran) `touch ran` "$(touch ran)"';
    await session.shown(`cardwright cards freeze ${ran} card_t\t\t`, /card_three/);
    expect((await session.files()).toSorted()).toEqual(['my file.json', 'other.json']);
  });
});

it.runIf(isWhole)('PowerShell takes the script, and offers what the program answers', async ({ skip }) => {
  const pwsh = ['pwsh', 'powershell'].find(name => requires(name) === undefined);
  if (pwsh === undefined) return skip('PowerShell is not installed here: its script was not tested');
  await using place = await home();
  const bin = join(place.folder, 'bin');
  await programIn(bin);
  const complete = (line: string) => {
    const script = `. '${join(ROOT, 'completions', 'cardwright.ps1')}'
      (TabExpansion2 -inputScript '${line}' -cursorColumn ${line.length}).CompletionMatches | ForEach-Object CompletionText`;
    const env = { ...process.env, CARDWRIGHT_CONFIG_DIR: place.folder, PATH: `${bin}:${process.env['PATH']}` };
    const { stdout, stderr } = spawnSync(pwsh, ['-NoProfile', '-Command', script], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.split(/\r?\n/).filter(text => text !== '');
  };
  expect(complete('cardwright cards unf')).toEqual(['unfreeze']);
  expect(complete('cardwright cards list --status ')).toEqual(['active', 'frozen', 'terminated']);
  expect(complete('cardwright cards list --status=fr')).toEqual(['--status=frozen']);
  expect(complete('cardwright bins pick --need 3ds,apple')).toEqual(["'apple_pay'"]);
});

it.runIf(isWhole)('bash with its completion package finds the script by itself', async ({ skip }) => {
  const places = ['/usr/share', '/usr/local/share', '/opt/homebrew/share'];
  const found = places.map(place => `${place}/bash-completion/bash_completion`).find(path => existsSync(path));
  const why =
    missing('bash') ?? (found ? undefined : 'the package bash-completion is not installed here: not tested with it');
  if (why !== undefined) return skip(why);
  await using session = await openShell('bash', HOSTILE_CARDS, `. ${found}\n`);
  for (const [typed, words] of FEW) expect(await session.words(typed), typed).toEqual(words);
});
