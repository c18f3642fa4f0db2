import { join } from 'node:path';
import type { Context, FileEdit } from '../cli/context.ts';
import { shippedText } from '../cli/docs/kept-pages.ts';
import { countOf } from '../cli/listing.ts';
import { command } from '../cli/parsing/command.ts';
import { eachTime, option, takes, tells } from '../cli/parsing/flag.ts';
import { undefinedOn, usage } from '../core/errors.ts';
import { utf8Text } from '../core/text.ts';
import {
  HOST_NAMES,
  HOSTS,
  type HostName,
  hasEntry,
  SCOPES,
  type Scope,
  type ServerEntry,
  withEntry,
} from './agent/hosts.ts';

const FILES = {
  changed: tells.yes('False if there was nothing to change, and in a dry run.'),
  hosts: tells.texts('Programs that host agents, those of --host or those found here.'),
  entry: tells.json('The server of tools as it is named: command and args.'),
  files: tells.rows(
    {
      path: tells.text('The file.'),
      action: tells.word('What happens to it.', ['create', 'change', 'remove', 'none']),
    },
    'Files it takes.',
  ),
} as const;

const DOES = { create: 'make', change: 'change', remove: 'remove', none: 'leave' } as const;

/** Writes the skill and the entry of the tools where hosts look for them. */
export const setUpAgent = command({
  path: 'agent setup',
  summary: 'Give agents on this machine the skill and the tools of cardwright',
  answers: { one: FILES },
  effect: 'reversible',
  dryRun: true,
  effectSays: 'changes files of this user, and asks first; --remove takes it away',
  ends: {
    not_confirmed: 'Declined, or --yes was needed because nobody could be asked. Nothing was changed.',
    guarded: 'A file must not be changed, or is not of the form that its host documents. Nothing was changed.',
  },
  about: [
    'The skill goes where each host looks for skills, and an entry that starts cardwright mcp into its configuration; everything else in that file stays. --project writes into the working folder in place of the home folder. Every change is shown first.',
    'Words after -- are options of cardwright mcp, such as -- --max-total 100 --intent-prefix agent7/. Without any the tools only read. The profile of this run is named in the entry; no key is written.',
  ],
  flags: {
    host: eachTime(option(takes.choice(HOST_NAMES, 'Program that hosts an agent; those found here when left out.'))),
    project: option(takes.flag('Into the working folder, for everybody who works in it.')),
    remove: option(takes.flag('Take skill and entry away again.')),
  },
  rest: 'kept',
  examples: {
    'Only look': 'agent setup --host claude --dry-run',
    'Purchases of at most $100 a run': 'agent setup --host claude --yes -- --max-total 100',
    'Take it away': 'agent setup --host claude --remove --yes',
  },
  async run(ctx, { host = [], project = false, remove = false }) {
    const { serveTools } = await import('./mcp/mcp.ts');
    const options = serveTools.flags.map(({ name }) => name);
    const odd = ctx.rest.find(
      (word, at) => (at === 0 || word.startsWith('-')) && !options.includes(word.split('=')[0] ?? ''),
    );
    if (odd !== undefined)
      throw usage(`after -- stand options of cardwright mcp (${options.join(', ')}), and not ${JSON.stringify(odd)}`);
    const hosts = host.length > 0 ? [...new Set(host)] : await hostsHere(ctx);
    if (hosts.length === 0) throw usage(`no host of agents was found here; name one: --host ${HOST_NAMES.join('|')}`);
    const entry = remove ? undefined : await entryOf(ctx);
    const edits = await editsFor(ctx, hosts, project ? 'project' : 'user', entry);
    const planned = await ctx.files.editFiles(edits, false);
    const due = planned.filter(({ action }) => action !== 'none');
    const shown = { hosts: hosts.map(String), entry: entry ?? null };
    if (due.length === 0 || ctx.dryRun) return { changed: false, ...shown, files: planned };
    if (!ctx.ui.yes) for (const { path, action } of due) ctx.ui.notice(`${DOES[action]} ${path}`);
    await ctx.ui.confirmed(`${remove ? 'Remove' : 'Write'} ${countOf(due.length, 'file')}`, 'Make these changes?');
    return { changed: true, ...shown, files: await ctx.files.editFiles(edits, true) };
  },
  noun: 'file',
  show: ({ changed, hosts, entry, files }) => ({
    data: { changed, hosts, entry, files: files.map(({ path, action }) => ({ path, action })) },
    blocks: [
      { kind: 'line', text: changed ? `Done for ${hosts.join(', ')}.` : 'Nothing was changed.' },
      { kind: 'pairs', pairs: files.map(({ path, action }) => [DOES[action], path] as const) },
    ],
    notes: changed && entry !== null ? ['Start the host anew. What it may spend: cardwright help safety'] : [],
  }),
});

/** Tells what of it is installed, and whether it is of this version. */
export const agentStatus = command({
  path: 'agent status',
  summary: 'Show which hosts of agents have the skill and the tools, and of which version',
  answers: {
    list: {
      host: tells.word('Program that hosts an agent.', HOST_NAMES),
      scope: tells.word('Of the user, or of the working folder.', SCOPES),
      skill: tells.word('The skill: of this version, of another one, or none.', ['current', 'other', 'none']),
      tools: tells.yes('Its configuration starts cardwright mcp.'),
      skill_folder: tells.text('Where the skill is or would be.'),
      config_file: tells.text('Its configuration.'),
    },
  },
  reach: 'files',
  examples: {
    'What is installed': 'agent status',
    'Is the skill of this version?': "agent status --jq '.data[].skill'",
  },
  async run(ctx) {
    const pages = skillPages();
    const rows = [];
    for (const host of HOST_NAMES) {
      for (const scope of SCOPES) {
        const { skill, config } = placesOf(ctx, host, scope);
        const textOf = (path: string) => ctx.files.readFile(path).catch(() => undefined);
        const texts = await Promise.all(pages.map(([name]) => textOf(join(skill, name))));
        const isCurrent = pages.every(([, text], at) => texts[at] === text);
        const state = isCurrent ? 'current' : texts.every(text => text === undefined) ? 'none' : 'other';
        const tools = hasEntry(await textOf(config), host);
        rows.push({ host, scope, skill: state, tools, skill_folder: skill, config_file: config });
      }
    }
    return rows;
  },
  columns: [
    'host scope skill tools config_file:3 skill_folder:4+',
    { tools: { kind: 'word' }, config_file: 'CONFIGURATION', skill_folder: 'SKILL IN' },
  ],
  noun: 'host',
  idField: 'host',
});

const SKILL = ['references/buy.md', 'references/unknown.md', 'references/month.md', 'SKILL.md'];
/** The files of the skill by their names, from its folder on. */
const skillPages = () => SKILL.map(name => [name, shippedText(`skills/cardwright/${name}`)] as const);

function homeOf({ env }: Context): string {
  const home = env['HOME'] ?? env['USERPROFILE'];
  if (home) return home;
  throw usage('HOME names no folder, and hosts of agents have their files there');
}

function placesOf(ctx: Context, name: HostName, scope: Scope): { readonly skill: string; readonly config: string } {
  const { skills, config } = HOSTS[name];
  const base = scope === 'user' ? homeOf(ctx) : '.';
  const codex = name === 'codex' && scope === 'user' ? ctx.env['CODEX_HOME'] : undefined;
  const file = codex === undefined ? join(base, config[scope]) : join(codex, 'config.toml');
  return { skill: join(base, skills[scope], 'cardwright'), config: file };
}

async function hostsHere(ctx: Context): Promise<readonly HostName[]> {
  const { readdir } = await import('node:fs/promises');
  const names = new Set(await readdir(homeOf(ctx)).catch(() => []));
  return HOST_NAMES.filter(name => names.has(HOSTS[name].seenBy));
}

/** Without an entry everything goes. */
async function editsFor(
  ctx: Context,
  hosts: readonly HostName[],
  scope: Scope,
  entry: ServerEntry | undefined,
): Promise<readonly FileEdit[]> {
  return hosts.flatMap(name => {
    const { skill, config } = placesOf(ctx, name, scope);
    return [
      ...skillPages().map(([file, text]) => ({
        path: join(skill, file),
        edit: () => (entry === undefined ? undefined : Buffer.from(text)),
      })),
      {
        path: config,
        edit(before: Buffer | undefined) {
          const is = before && utf8Text(before, config);
          const text = withEntry(is, { name, path: config, entry });
          return text === is ? before : text === undefined ? undefined : Buffer.from(text);
        },
      },
    ];
  });
}

/** The account of this run by its name, and the options of the tools. Without a profile the host's environment says it. */
async function entryOf(ctx: Context): Promise<ServerEntry> {
  const { mode, profile } = (await undefinedOn('not_authenticated', ctx.api.identity())) ?? {};
  const chosen = mode === 'sandbox' ? ['--sandbox'] : profile === undefined || profile === 'env' ? [] : ['-p', profile];
  return { command: 'cardwright', args: [...chosen, 'mcp', ...(ctx.rest.length > 0 ? ctx.rest : ['--read-only'])] };
}
