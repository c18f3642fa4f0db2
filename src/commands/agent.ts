import { join } from 'node:path';
import { confirmed } from '../cli/confirm.ts';
import type { Context } from '../cli/context.ts';
import { skillPages } from '../cli/docs/skill.ts';
import { countOf } from '../cli/listing.ts';
import { command } from '../cli/parsing/command.ts';
import { eachTime, flagName, option, takes, tells } from '../cli/parsing/flag.ts';
import { CliError, usage } from '../core/errors.ts';
import { shellLine } from '../terminal/shell-assignments.ts';
import { copiedLine, lineBlock } from '../terminal/view.ts';

/**
 * Programs that host agents: where each looks for skills, in the home folder of the user or in that of a project, and how it is told
 * of a server of tools. Taken from public descriptions of November 2026; no host was at hand to judge them.
 */
const HOSTS = {
  claude: { seenBy: '.claude', skills: '.claude/skills', addsBy: 'claude mcp add' },
  codex: { seenBy: '.codex', skills: '.agents/skills', addsBy: 'codex mcp add' },
  cursor: { seenBy: '.cursor', skills: '.cursor/skills', addsBy: undefined },
  gemini: { seenBy: '.gemini', skills: '.gemini/skills', addsBy: undefined },
} as const;

type HostName = keyof typeof HOSTS;
const HOST_NAMES = Object.keys(HOSTS) as readonly HostName[];

const FILES = {
  changed: tells.yes('False in a dry run.'),
  hosts: tells.texts('Programs that host agents, those of --host or those found here.'),
  entry: tells.json('The server of tools as a host is told of it: command and args; null with --remove.'),
  files: tells.texts('The files that are written, or taken away.'),
} as const;

/** Writes the skill where hosts look for it, and says how each is told of the tools. */
export const setUpAgent = command({
  path: 'agent setup',
  summary: 'Give agents on this machine the skill and the tools of cardwright',
  answers: { one: FILES },
  effect: 'reversible',
  dryRun: true,
  effectSays: 'writes files of this user, and asks first; --remove takes them away',
  reach: 'files',
  ends: {
    not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.',
    guarded: 'A file stands there that is not of the skill. It was not changed.',
  },
  about: [
    'The skill goes where each host looks for skills; --project writes into the working folder in place of the home folder. Every change is shown first. No configuration of a host is touched: what names cardwright mcp to it is printed, to be run or put there.',
    'Words after -- are options of cardwright mcp, such as -- --max-total 100 --intent-prefix agent7/. Without any the tools only read. The profile of this run is named in the entry; no key is written.',
  ],
  flags: {
    host: eachTime(option(takes.choice(HOST_NAMES, 'Program that hosts an agent; those found here when left out.'))),
    project: option(takes.flag('Into the working folder, for everybody who works in it.')),
    remove: option(takes.flag('Take the skill away again.')),
  },
  rest: 'kept',
  examples: [
    { does: 'Only look', run: 'agent setup --host claude --dry-run' },
    { does: 'Purchases of at most $100 a run', run: 'agent setup --host claude --yes -- --max-total 100' },
    { does: 'Take it away', run: 'agent setup --host claude --remove --yes' },
  ],
  async run(ctx, { host = [], project = false, remove = false }) {
    const { serveTools } = await import('./mcp/mcp.ts');
    const options = Object.keys(serveTools.flags ?? {}).map(flagName);
    const odd = ctx.rest.find(
      (word, at) => (at === 0 || word.startsWith('-')) && !options.includes(word.split('=')[0] ?? ''),
    );
    if (odd !== undefined)
      throw usage(`after -- stand options of cardwright mcp (${options.join(', ')}), and not ${JSON.stringify(odd)}`);
    const hosts = host.length > 0 ? [...new Set(host)] : await hostsHere(ctx);
    if (hosts.length === 0) throw usage(`no host of agents was found here; name one: --host ${HOST_NAMES.join('|')}`);
    const { REGISTRY } = await import('./registry.ts');
    const pages = Object.entries(await skillPages(REGISTRY));
    const files = hosts.flatMap(name => {
      const folder = join(project ? '.' : homeOf(ctx), HOSTS[name].skills, 'cardwright');
      return pages.map(([file, text]) => ({ path: join(folder, file), text }));
    });
    const told = { hosts, entry: remove ? null : await entryOf(ctx), files: files.map(({ path }) => path) };
    if (ctx.dryRun) return { changed: false, ...told };
    if (!ctx.ui.yes) for (const { path } of files) ctx.ui.notice(`${remove ? 'remove' : 'write'} ${path}`);
    const words = `${hosts.map(name => ` --host ${name}`).join('')}${remove ? ' --remove' : ''}`;
    const intent = `${remove ? 'Remove' : 'Write'} ${countOf(files.length, 'file')}`;
    await confirmed(ctx, intent, `cardwright agent setup${words} --yes`, 'Make these changes?');
    for (const { path, text } of files) {
      if (remove) await ctx.files.removeFile(path, markOf(text));
      else await ctx.files.replaceFile(path, { pieces: [text], mark: markOf(text) });
    }
    return { changed: true, ...told };
  },
  show: ({ changed, hosts, entry, files }) => ({
    data: { changed, hosts, entry, files },
    noun: 'file',
    columns: [],
    blocks: [
      lineBlock(changed ? `Done for ${hosts.join(', ')}.` : 'Dry run, nothing was changed.'),
      ...files.map(copiedLine),
    ],
    notes: entry === null ? [] : ['What it may spend: cardwright help safety', ...hosts.map(toolsOf(entry))],
  }),
});

export const AGENT_COMMANDS = [setUpAgent];

/** How a page of the skill begins: its title, whatever its version. */
function markOf(text: string): string {
  return text.slice(0, text.indexOf('\n', 4));
}

function homeOf({ env }: Context): string {
  const home = env['HOME'] ?? env['USERPROFILE'];
  if (home) return home;
  throw usage('HOME names no folder, and hosts of agents have their files there');
}

async function hostsHere(ctx: Context): Promise<readonly HostName[]> {
  const { readdir } = await import('node:fs/promises');
  const names = new Set(await readdir(homeOf(ctx)).catch(() => []));
  return HOST_NAMES.filter(name => names.has(HOSTS[name].seenBy));
}

/** A server of tools as hosts name it. */
interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** The account of this run by its name, and the options of the tools. Without a profile the host's environment says it. */
async function entryOf(ctx: Context): Promise<ServerEntry> {
  const identity = await ctx.api.identity().catch((thrown: unknown) => {
    if (thrown instanceof CliError && thrown.kind === 'not_authenticated') return undefined;
    throw thrown;
  });
  const { mode, profile } = identity ?? {};
  const chosen = mode === 'sandbox' ? ['--sandbox'] : profile === undefined || profile === 'env' ? [] : ['-p', profile];
  return { command: 'cardwright', args: [...chosen, 'mcp', ...(ctx.rest.length > 0 ? ctx.rest : ['--read-only'])] };
}

/** What names the tools to a host: its own command, or what goes into its configuration. */
function toolsOf({ command, args }: ServerEntry) {
  return (name: HostName): string => {
    const { addsBy } = HOSTS[name];
    if (addsBy !== undefined) return `Tools for ${name}: ${addsBy} cardwright -- ${shellLine([command, ...args])}`;
    return `Tools for ${name}, in its configuration: ${JSON.stringify({ mcpServers: { cardwright: { command, args } } })}`;
  };
}
