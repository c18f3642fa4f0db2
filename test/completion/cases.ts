/** What is typed in each shell, TABs in it, and the words it must become. */
import type { PlantedCard } from './shell-session.ts';

/** Texts that act on a terminal or in a shell that does not keep them apart from what it runs. */
export const HOSTILE_CARDS: readonly PlantedCard[] = [
  { id: 'card_one', label: '$(touch ran) `touch ran` ; touch ran' },
  { id: 'card_two', label: 'a\nb\tc\r\u001b[31mred\u001b]0;title\u0007\u009b31m' },
  { id: 'card_three', label: `it's "quoted": 'x':y \\ %F{red} $HOME *` },
  { id: 'card_frozen', status: 'frozen', label: '\u202eevil\u2066\u200b 広告' },
  // These are never offered.
  { id: 'card_$(touch ran)', label: 'x' },
  { id: 'card_ 4;touch ran', label: 'x' },
  { id: '4242424242424242', label: 'x' },
];

export type Case = readonly [typed: string, words: readonly string[]];

/** Enough to see that a shell asks and inserts; the others take longer. */
export const FEW: readonly Case[] = [
  ['cardwright cards list --status=fr\t', ['cardwright', 'cards', 'list', '--status=frozen']],
  ['cardwright webhooks sign --payload my\t', ['cardwright', 'webhooks', 'sign', '--payload', 'my file.json']],
];

export const MORE: readonly Case[] = [
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
