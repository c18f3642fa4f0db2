/** The skill for agents: one page made from the registry by effect, and a page for each workflow. */
import type { Effect } from '../../contract/operation.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { type Command, commandsOf, type Registry } from '../parsing/declaration.ts';

/** What a program that drives this one must know of a command before it runs it. */
const BY_EFFECT: readonly (readonly [Effect, string])[] = [
  ['moves-money', '**Moves money**'],
  ['reveals-secret', '**Hands out card data**'],
  ['irreversible', '**Cannot be undone**'],
  ['reversible', '**Changes state, and can be undone**'],
];

/** Commands of an effect; what the sandbox does to itself counts for nothing. */
function pathsOf(commands: readonly Command[], effect: Effect): string {
  const paths = commands.filter(command => command.effect === effect && !command.path.startsWith('sandbox '));
  return paths.map(({ path }) => `\`${path}\``).join(', ');
}

/** The files of the skill by their names, from its folder on. */
export async function skillPages(registry: Registry): Promise<Readonly<Record<string, string>>> {
  const commands = (await Promise.all(registry.map(commandsOf))).flat();
  const exits = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => `| ${exit} | ${kind} | ${means} |`);
  const skill = `---
name: cardwright
description: Issue, fund, freeze, terminate and inspect virtual cards, buy one thing with one card, settle an unknown outcome, close a month. Use it when money is to be spent or looked at by virtual cards.
---

# Driving cardwright

- **One purchase, one intent.** \`--intent NAME\` on every command that spends; the same name again is the same purchase, also after a crash. Never repeat with another name.
- **Say what it is for**: \`--purpose "office chairs"\`. Approvers and the books show it.
- **Exit 0 means it happened. 11 means nobody knows**: do not buy again; see [unknown.md](references/unknown.md).
- **17 waits for a person.** Tell them the command in \`error.hint\`, and run yours again when they have approved. Never approve yourself.
- **14 is a limit or a guard.** The message says who can change it. Do not look for a way around.
- **Are tools of \`cardwright mcp\` there, use them** in place of commands that move money: bounds of the server hold for its tools alone.
- **Try with \`--sandbox\` first**, and look with \`--dry-run\`.
- **Answers**: \`--json\`; errors are the last line of standard error, with kind, outcome and hint. Nothing is asked; a missing confirmation is 3 unless you give \`--yes\`.
- **Who**: give \`--sandbox\` or \`--profile\`.
- **Card numbers are not for you**: \`cards exec\` and \`cards lease\` hand them to one program.
- **Lists print one page**; \`page\` says whether there are more.

Ask for little: \`cardwright commands --names\` (all commands, short), \`cardwright commands cards --json\` (one group), \`cardwright schema cards create\` (one answer), \`cardwright explain 11\`. Do not read \`commands --json\` without a group, nor the reference.

Workflows: [buy one thing](references/buy.md), [settle an unknown outcome](references/unknown.md), [close a month](references/month.md).

## What changes something

${BY_EFFECT.map(([effect, says]) => `- ${says}: ${pathsOf(commands, effect)}`).join('\n')}

## How it ends

| exit | kind | means |
|---|---|---|
| 0 | done | Done; also an empty list. |
${exits.join('\n')}
`;
  return {
    'references/buy.md': BUY,
    'references/unknown.md': UNKNOWN,
    'references/month.md': MONTH,
    'SKILL.md': skill,
  };
}

const BUY = `# Buy one thing

A program pays: a card that lives as long as the program does.

\`\`\`sh
cardwright cards lease --amount 25 --intent order-17 --purpose "office chairs" --reveal --yes -- ./checkout.sh
\`\`\`

\`checkout.sh\` finds CARD_NUMBER, CARD_CVV, CARD_EXP_MONTH and CARD_EXP_YEAR in its environment; its exit code is that of the command. The card is terminated afterwards, and what is left goes back. A lease with an intent that was used ends with 14: its program may have paid.

A card that stays:

\`\`\`sh
cardwright cards create --bin auto --amount 25 --intent order-17 --purpose "office chairs" --yes --json
cardwright cards exec CARD --reveal -- ./checkout.sh
\`\`\`

Is a code of 3DS asked for while the program pays:

\`\`\`sh
cardwright 3ds wait --card CARD --wait-timeout 2m --print otp
\`\`\`

Then look: \`cardwright tx list --card CARD --json\`.

| exit | then |
|---|---|
| 0 | It is done. The same command again gives the same card. |
| 7, 12 | Nothing was spent. Run the same command again. |
| 10 | The wallet is too low: tell a person. |
| 11 | [unknown.md](unknown.md) |
| 14 | A limit: tell a person what the message says. |
| 17 | Tell a person the command in \`error.hint\`; then run the same command again. |
`;

const UNKNOWN = `# Settle an unknown outcome

Exit 11: it was sent, and no answer can be trusted. The money may have moved.

1. Do not buy again, and never with another intent.
2. Run what the error says in \`hint\`, or the very same command with the same intent. Both look for the effect first:

\`\`\`sh
cardwright ops resume OP --yes --json
\`\`\`

3. Still 11: wait a minute, and run it again. Lists of a service may be behind.
4. Look yourself:

\`\`\`sh
cardwright ops show OP --json
cardwright cards list --json
\`\`\`

5. Nothing tells: ask a person. They record what they have found with \`cardwright ops resolve OP --as done --note "…"\` or \`--as not-done\`. That is not yours to decide.

\`cardwright ops list --json\` shows what is left: \`unknown\`, \`open\`, \`unacknowledged\` and \`pending\`.
`;

const MONTH = `# Close a month

After its last day:

\`\`\`sh
cardwright books reconcile --json
\`\`\`

\`verdict\` is \`baseline\` the first time, then \`balanced\`, \`provisional\` (open holds; come back later) or \`unexplained\` (exit 15). Each of \`findings\` has \`text\` and \`next\`, the command that leads on. \`beyond_purpose\` and \`purpose_unspent\` name cards that spent more than they were given for, or nothing: tell a person.

\`\`\`sh
cardwright books statement --period 2026-10 --json
cardwright books export --format csv --period 2026-10 --out books
\`\`\`

\`final\` says whether anything may still change. The column \`purpose\` has what each purchase was for; journals (\`--format hledger\`, \`ledger\`, \`beancount\`) have it as a tag.

Money that nobody needs any more: \`cardwright cards list --idle 30d --json\`, then ask a person before \`cardwright cards terminate CARD\`.
`;
