/** What a program that drives this one reads first: `llms.txt` and a skill, from the declarations. */
import type { Effect } from '../../contract/operation.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { type Command, commandsOf, type Registry } from '../parsing/command.ts';
import { effectOf } from '../parsing/resolved-flags.ts';

const PURPOSE =
  'Issue, fund, freeze, terminate and watch virtual cards from a terminal, a script or CI, with the whole service inside as an offline sandbox.';

/** A line of `help scripting`. */
export interface Advice {
  readonly topic: string;
  readonly means: string;
}

/** `llms.txt`: what this is, and where each command is documented. */
export async function llmsText(registry: Registry): Promise<string> {
  const lines = await Promise.all(
    registry.map(async group => {
      const commands = await commandsOf(group);
      const paths = commands.map(({ path }) => `\`${path}\``).join(', ');
      return `- [${group.name}](docs/reference/${group.name}.md): ${group.summary}. ${paths}`;
    }),
  );
  return `# cardwright

> ${PURPOSE}

Without a network or a key every command works with \`--sandbox\`. Answers are JSON with \`--json\`; \`cardwright
commands --json\` is the tree of commands, \`cardwright schema <command>\` the shape of an answer, \`cardwright explain
<exit code>\` what to do next.

## Commands

${lines.join('\n')}

## More

- [README](README.md): what it is, installing, the first card
- [Guides](docs/guide/README.md): one page a task
- [SECURITY](SECURITY.md): what is promised about keys and card numbers, and what cannot be
`;
}

/** The skill: rules first, then what changes anything, then the exit codes. */
export async function skillText(registry: Registry, advice: readonly Advice[]): Promise<string> {
  const commands = (await Promise.all(registry.map(commandsOf))).flat();
  const exits = Object.entries(ERROR_KINDS).map(([kind, { exit, means }]) => `| ${exit} | ${kind} | ${means} |`);
  return `---
name: cardwright
description: ${PURPOSE} Use it when virtual cards are to be made, funded, frozen, terminated or inspected.
---

# Driving cardwright

${advice.map(({ topic, means }) => `- **${topic}**: ${means}`).join('\n')}

Try everything with \`--sandbox\` first, and look with \`--dry-run\` before anything in the list below runs for real.
Never ask for a card number or CVV: \`cards exec\` and \`cards lease\` hand them to one program, and nobody reads them.

## What changes something

${BY_EFFECT.map(([effect, says]) => `- ${says}: ${pathsOf(commands, effect)}`).join('\n')}

## How it ends

| exit | kind | means |
|---|---|---|
| 0 | done | Done; also an empty list. |
${exits.join('\n')}

\`cardwright <command> --help\` shows options and examples that run; \`cardwright schema <command>\` the JSON.
`;
}

/** What a program that drives this one must know of a command before it runs it. */
const BY_EFFECT: readonly (readonly [Effect, string])[] = [
  ['moves-money', '**Moves money**'],
  ['reveals-secret', '**Hands out card data**'],
  ['irreversible', '**Cannot be undone**'],
  ['reversible', '**Changes state, and can be undone**'],
];

/** Commands of an effect; what the sandbox does to itself counts for nothing. */
function pathsOf(commands: readonly Command[], effect: Effect): string {
  const paths = commands.filter(command => effectOf(command) === effect && !command.path.startsWith('sandbox '));
  return paths.map(({ path }) => `\`${path}\``).join(', ');
}
