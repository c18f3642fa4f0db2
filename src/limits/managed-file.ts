/**
 * Limits that an administrator sets for everybody on a machine. The file counts only where nobody else can write it:
 * what an agent or a user of the machine could change would be no limit.
 */
import { promises as disk, lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import { isLimitName, readLimits, type SourcedLimits } from './limits.ts';

/** Where a card may be revealed: nowhere, at a terminal alone, or also into the environment of a program. */
export type RevealRule = 'never' | 'terminal' | 'exec';

export interface ManagedLimits {
  readonly path: string;
  /** For all profiles and for this origin. Empty where there is no file. */
  readonly sources: readonly SourcedLimits[];
  /** Lines of keys, `person ed25519 key`, that may approve; undefined where the file names nobody. */
  readonly approvers: readonly string[] | undefined;
  readonly reveal: RevealRule | undefined;
}

export interface ManagedFile {
  readonly path: string;
  /** User id of the administrator: 0, and another one for tests alone. */
  readonly administrator: number;
  readonly platform: NodeJS.Platform;
}

/** Where an administrator puts it. No variable moves it: a user could set one. */
export function managedFilePath(platform: NodeJS.Platform): string {
  if (platform === 'win32') return 'C:\\ProgramData\\cardwright\\limits.json';
  if (platform === 'darwin') return '/Library/Application Support/cardwright/limits.json';
  return '/etc/cardwright/limits.json';
}

/**
 * What the file says for this origin (scheme, host and port; undefined for the built-in sandbox). No file limits nothing.
 * Throws `guarded` (14) for a file that others than the administrator can write, that cannot be read or understood.
 */
export async function readManagedLimits(file: ManagedFile, origin: string | undefined): Promise<ManagedLimits> {
  const { path } = file;
  const nothing: ManagedLimits = { path, sources: [], approvers: undefined, reveal: undefined };
  const found = lstatOf(path);
  if (found === undefined) return nothing;
  const unsafe = file.platform === 'win32' ? await writableHere(path) : writableByOthers(file, found);
  if (unsafe !== undefined) throw refused(path, unsafe);
  let whole: unknown;
  try {
    whole = JSON.parse(await disk.readFile(path, 'utf8'));
  } catch (cause) {
    throw refused(path, cause instanceof SyntaxError ? 'it is not JSON' : 'it cannot be read');
  }
  if (!isObject(whole)) throw refused(path, 'it is no JSON object');
  const { origins = {}, ...all } = whole as Record<string, unknown>;
  if (!isObject(origins)) throw refused(path, 'origins is no object');
  const parts = [readPart(path, all, '')];
  for (const [name, members] of Object.entries(origins)) {
    if (!URL.canParse(name) || new URL(name).origin !== name)
      throw refused(path, `origins has ${JSON.stringify(name)}, which is no address such as https://api.example.com`);
    if (!isObject(members)) throw refused(path, `origins.${name} is no object`);
    const part = readPart(path, members as Record<string, unknown>, `origins.${name}.`);
    if (name === origin) parts.push(part);
  }
  const reveals: readonly RevealRule[] = ['never', 'terminal', 'exec'];
  return {
    path,
    sources: parts.map(({ sourced }) => sourced),
    approvers: parts.findLast(({ approvers }) => approvers !== undefined)?.approvers,
    reveal: reveals.find(rule => parts.some(({ reveal }) => reveal === rule)),
  };
}

type Part = Omit<ManagedLimits, 'path' | 'sources'> & { readonly sourced: SourcedLimits };

function readPart(path: string, members: Readonly<Record<string, unknown>>, prefix: string): Part {
  const { approvers, reveal, ...limits } = members;
  const odd = Object.keys(limits).find(name => !isLimitName(name));
  if (odd !== undefined) throw refused(path, `${prefix}${odd} is no limit`);
  const read = readLimits(limits);
  if ('wrong' in read) throw refused(path, `${prefix}${read.wrong} has no value that it takes`);
  if (approvers !== undefined && !(Array.isArray(approvers) && approvers.every(line => typeof line === 'string')))
    throw refused(path, `${prefix}approvers is no list of keys`);
  if (reveal !== undefined && reveal !== 'never' && reveal !== 'terminal' && reveal !== 'exec')
    throw refused(path, `${prefix}reveal is never, terminal or exec`);
  return { sourced: { source: { kind: 'managed', name: path }, limits: read.limits }, approvers, reveal };
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw refused(path, 'it cannot be looked at');
  }
}

/** Why somebody else than the administrator can write the file or replace it, or one of the folders above it. */
function writableByOthers({ path, administrator }: ManagedFile, found: Stats): string | undefined {
  if (!found.isFile()) return 'it is no ordinary file';
  const wrong = ({ uid, mode }: Stats, isFolder: boolean) => {
    if (uid !== administrator && uid !== 0) return 'does not belong to root';
    // In a folder with the sticky bit nobody can replace what belongs to root.
    const isSticky = isFolder && (mode & 0o1000) !== 0;
    return (mode & 0o022) !== 0 && !isSticky ? 'can be written by others than root' : undefined;
  };
  const ofFile = wrong(found, false);
  if (ofFile !== undefined) return `it ${ofFile}`;
  for (let folder = realpathSync(dirname(path)); ; folder = dirname(folder)) {
    const ofFolder = wrong(lstatSync(folder), true);
    if (ofFolder !== undefined) return `${folder} ${ofFolder}`;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Windows tells no owner: whoever can open the file for writing can change it. */
async function writableHere(path: string): Promise<string | undefined> {
  try {
    await (await disk.open(path, 'r+')).close();
    return 'this user can write it';
  } catch {
    return undefined;
  }
}

function refused(path: string, why: string): CliError {
  return new CliError('guarded', {
    message: `the limits of this machine do not count, because ${path} is not as it must be: ${why}`,
    notes: ['Only an administrator of the machine may be able to write it. Nothing is sent until it is mended.'],
    reason: 'managed_limits',
    hint: `ls -l ${shellWord(path)}`,
    outcome: 'not_sent',
  });
}
