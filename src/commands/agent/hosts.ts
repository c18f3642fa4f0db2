/**
 * Programs that host agents: where each looks for skills, and where and how it names servers of tools. Taken from public
 * descriptions of November 2026; no host was at hand to judge them. Paths are from the home folder of the user, or from the
 * folder of a project.
 */
import { notSent } from '../../core/errors.ts';
import { isObject, jsonOrUndefined } from '../../core/objects.ts';

export const SCOPES = ['user', 'project'] as const;
export type Scope = (typeof SCOPES)[number];
type Places = Readonly<Record<Scope, string>>;

interface AgentHost {
  /** A folder in the home of everybody who uses it. */
  readonly seenBy: string;
  readonly skills: Places;
  readonly config: Places;
  readonly format: 'json' | 'toml';
}

const everywhere = (path: string): Places => ({ user: path, project: path });

export const HOSTS = {
  claude: {
    seenBy: '.claude',
    skills: everywhere('.claude/skills'),
    config: { user: '.claude.json', project: '.mcp.json' },
    format: 'json',
  },
  codex: {
    seenBy: '.codex',
    skills: everywhere('.agents/skills'),
    config: everywhere('.codex/config.toml'),
    format: 'toml',
  },
  cursor: {
    seenBy: '.cursor',
    skills: everywhere('.cursor/skills'),
    config: everywhere('.cursor/mcp.json'),
    format: 'json',
  },
  gemini: {
    seenBy: '.gemini',
    skills: everywhere('.gemini/skills'),
    config: everywhere('.gemini/settings.json'),
    format: 'json',
  },
} as const satisfies Readonly<Record<string, AgentHost>>;

export type HostName = keyof typeof HOSTS;
export const HOST_NAMES = Object.keys(HOSTS) as readonly HostName[];

/** A server of tools as hosts name it. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

const NAME = 'cardwright';
const BEGIN = '# cardwright begin: written by cardwright agent setup';
const END = '# cardwright end';

/** The text of a configuration with the entry, or without one; undefined for a file that would hold nothing. Throws `guarded`. */
export function withEntry(
  text: string | undefined,
  { name, path, entry }: { readonly name: HostName; readonly path: string; readonly entry: ServerEntry | undefined },
): string | undefined {
  return HOSTS[name].format === 'toml' ? tomlWith(text, path, entry) : jsonWith(text, path, entry);
}

/** Whether a configuration names a server of ours. */
export function hasEntry(text: string | undefined, name: HostName): boolean {
  if (text === undefined) return false;
  if (HOSTS[name].format === 'toml') return TABLE.test(text);
  const whole = jsonOrUndefined(text);
  const servers = isObject(whole) ? whole['mcpServers'] : undefined;
  return isObject(servers) && Object.hasOwn(servers, NAME);
}

function jsonWith(text: string | undefined, path: string, entry: ServerEntry | undefined): string | undefined {
  if (text === undefined && entry === undefined) return undefined;
  const whole = text === undefined || text.trim() === '' ? {} : parsed(text, path);
  const { mcpServers = {}, ...others } = whole;
  if (!isObject(mcpServers)) throw cannotEdit(path, 'its mcpServers is no object');
  const { [NAME]: old, ...servers } = mcpServers;
  if (old !== undefined && !isOurs(old)) throw cannotEdit(path, 'it has a server cardwright that somebody else wrote');
  if (entry === undefined && old === undefined) return text;
  // Only blanks may be written anew: not a number that is rounded, a member that is there twice, or an escape.
  const tight = text?.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
  if (tight && tight !== JSON.stringify(whole)) throw cannotEdit(path, 'more of it than the entry would become other');
  const left = entry === undefined ? servers : { ...servers, [NAME]: { command: entry.command, args: entry.args } };
  const isEmpty = Object.keys(left).length === 0;
  if (isEmpty && Object.keys(others).length === 0) return undefined;
  const indent = /\n([ \t]+)"/.exec(text ?? '')?.[1] ?? '  ';
  // The order of the members stays.
  const next = isEmpty
    ? others
    : 'mcpServers' in whole
      ? { ...whole, mcpServers: left }
      : { ...others, mcpServers: left };
  return `${JSON.stringify(next, null, indent)}${text === undefined || text.endsWith('\n') ? '\n' : ''}`;
}

/** An entry as `agent setup` writes it: the program by its name, its tools, and nothing else. */
function isOurs(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  const { command, args, ...others } = entry;
  const isTools = Array.isArray(args) && args.includes('mcp');
  return command === 'cardwright' && isTools && Object.keys(others).length === 0;
}

function parsed(text: string, path: string): Readonly<Record<string, unknown>> {
  const whole = jsonOrUndefined(text);
  if (!isObject(whole)) throw cannotEdit(path, 'it is no plain JSON object');
  return whole;
}

const TABLE = /^\s*\[mcp_servers\.("?)cardwright\1\]/m;

function tomlWith(text: string | undefined, path: string, entry: ServerEntry | undefined): string | undefined {
  const begin = text?.indexOf(BEGIN) ?? -1;
  const end = text?.indexOf(END, begin) ?? -1;
  const before = text ?? '';
  const own = begin === -1 || end === -1 ? before : `${before.slice(0, begin)}${before.slice(end + END.length + 1)}`;
  if (TABLE.test(own)) throw cannotEdit(path, 'it has a table mcp_servers.cardwright that somebody else wrote');
  if (entry === undefined) return own.trim() === '' ? undefined : own;
  const strings = entry.args.map(word => JSON.stringify(word)).join(', ');
  const lines = [
    BEGIN,
    `[mcp_servers.${NAME}]`,
    `command = ${JSON.stringify(entry.command)}`,
    `args = [${strings}]`,
    END,
  ];
  const gap = own === '' || own.endsWith('\n') ? '' : '\n';
  return `${own}${gap}${lines.join('\n')}\n`;
}

function cannotEdit(path: string, why: string) {
  return notSent('guarded', `${path} was not changed: ${why}`, {
    notes: ['Nothing was written. Add the entry by hand; cardwright agent setup --dry-run --json shows it.'],
  });
}
