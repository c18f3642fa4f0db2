/** What a program that drives this one reads first: `llms.txt` and a skill, from the declarations. */
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
  const changing = commands.filter(command => command.operation !== undefined && isOfService(command));
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

| command | effect |
|---|---|
${changing.map(command => `| \`${command.path}\` | ${effectOf(command)} |`).join('\n')}

## How it ends

| exit | kind | means |
|---|---|---|
| 0 | done | Done; also an empty list. |
${exits.join('\n')}

\`cardwright <command> --help\` shows options and examples that run; \`cardwright schema <command>\` the JSON.
`;
}

function isOfService(command: Command): boolean {
  return effectOf(command) !== 'read' && !command.path.startsWith('sandbox ');
}
