/**
 * dist/main.js: opens the files of the program. What V8 compiled of them is kept in the cache folder of the user, one
 * file for each command, because compiling is a third of a short command. A file of somebody else, or one that is
 * damaged, is never used (docs/decisions/0009-compiled-code-cache.md). In the single executable the files are its assets.
 */
import { dirname, isAbsolute } from 'node:path';
import { Script } from 'node:vm';
import { foldersFor } from './platform/folders.ts';

/** By the build: version and hash of the program; where each piece stands in program.txt, in bytes. */
declare const CARDWRIGHT_BUILD: string;
declare const CARDWRIGHT_PIECES: Readonly<Record<string, readonly [at: number, length: number]>>;
/** In the executable: bytes of a file of the build. */
declare const CARDWRIGHT_ASSET: ((name: string) => Buffer) | undefined;

/** An import would copy its hundred names. */
const fs = process.getBuiltinModule('node:fs');

const MOST_BYTES = 1 << 26;
/** Bytes of the second copy that are compared at a time: to touch memory for the first time takes longer than to read into it. */
const PIECE = 1 << 16;
const MOST_COMMANDS = 64;
const MONTH_MS = 30 * 24 * 3_600_000;
/** Options with which a command runs other code. */
const OPTIONS = ['--help', '-h', '--version', '-V', '--sandbox', '--json'];

const read =
  typeof CARDWRIGHT_ASSET === 'function' ? CARDWRIGHT_ASSET : (name: string) => fs.readFileSync(`${__dirname}/${name}`);
const cache = cachePlace();
const kept = cache.file === undefined ? new Map<string, Buffer>() : codeIn(cache.file);
const textOf = openProgram();
const scripts = new Map<string, Script>();
const modules = new Map<string, { exports: unknown }>();

if (cache.file !== undefined) {
  process.on('exit', () => {
    try {
      if (cache.used < scripts.size) keepCode(cache);
    } catch {
      // Without its cache the program starts later and does the same.
    }
  });
}
open('program.js');

/** What a piece of the program exports; it runs when it is first asked for. */
function open(piece: string): unknown {
  const known = modules.get(piece);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(piece, module);
  const filename = `${__dirname}/${piece}`;
  const cachedData = kept.get(piece);
  const script = new Script(textOf(piece), { filename, ...(cachedData && { cachedData }) });
  scripts.set(piece, script);
  if (script.cachedDataRejected === false) cache.used += 1;
  const fromHere = (name: string) => (name.startsWith('./') ? open(name.slice(2)) : require(name));
  script.runInThisContext()(module.exports, fromHere, module, filename, __dirname, { read, cache });
  return module.exports;
}

/** Reads the text of a piece out of program.txt: in one file, because each costs a quarter of a millisecond at start. */
function openProgram(): (piece: string) => string {
  const inside = typeof CARDWRIGHT_ASSET === 'function' ? CARDWRIGHT_ASSET('program.txt') : undefined;
  const handle = inside === undefined ? fs.openSync(`${__dirname}/program.txt`, 'r') : -1;
  return piece => {
    const [at = 0, length = 0] = CARDWRIGHT_PIECES[piece] ?? [];
    if (inside !== undefined) return inside.toString('utf8', at, at + length);
    const bytes = Buffer.allocUnsafe(length);
    fs.readSync(handle, bytes, 0, length, at);
    return bytes.toString();
  };
}

interface Place {
  /** What `doctor` shows. */
  readonly says: string;
  /** Files of this run that were not compiled anew. */
  used: number;
  /** The folder below which all is private. */
  readonly root?: string;
  readonly folder?: string;
  readonly file?: string;
}

function cachePlace(): Place {
  const { env, platform, arch, versions } = process;
  if (env['CARDWRIGHT_CACHE'] === 'off') return { says: 'off, by CARDWRIGHT_CACHE', used: 0 };
  try {
    // What os.homedir() reads first; loading that module takes a third of a millisecond.
    const home = (platform !== 'win32' && env['HOME']) || process.getBuiltinModule('node:os').homedir();
    const root = env['CARDWRIGHT_CACHE'] || foldersFor({ env, platform, home, temporary: '' }).cache;
    if (!isAbsolute(root)) return { says: 'off: its folder is no absolute path', used: 0 };
    const folder = `${root}/code/${CARDWRIGHT_BUILD}-${versions.v8}-${platform}-${arch}`;
    return { says: folder, used: 0, root, folder, file: `${folder}/${commandHash()}.code` };
  } catch {
    return { says: 'off: this user has no home folder', used: 0 };
  }
}

/** FNV-1a of the first two words and of OPTIONS: a word that should not have been typed is in no name of a file. */
function commandHash(): string {
  const argv = process.argv.slice(2);
  const words = argv.filter(word => !word.startsWith('-')).slice(0, 2);
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from([...words, ...OPTIONS.filter(option => argv.includes(option))].join(' '))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

/**
 * Piece of the program to its compiled code; empty where there is none that may be used. The file is the same thing twice: a line of
 * names and lengths, and the code. V8 looks at versions and lengths only, and to compare two copies needs no module of Node's, as a
 * checksum would.
 */
function codeIn(path: string): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  let handle: number | undefined;
  try {
    handle = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
    const { size, mode, uid } = fs.fstatSync(handle);
    // Whoever else could have written it could have this process run what they like.
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o177077) === 0o100000);
    if (!isOurs || size > MOST_BYTES) return found;
    const length = size / 2;
    const content = Buffer.allocUnsafeSlow(length);
    fs.readSync(handle, content);
    const piece = Buffer.allocUnsafeSlow(PIECE);
    for (let at = 0; at < length; at += PIECE) {
      const read = fs.readSync(handle, piece, 0, Math.min(PIECE, length - at), length + at);
      if (read === 0 || !piece.subarray(0, read).equals(content.subarray(at, at + PIECE))) return found;
    }
    let at = content.indexOf('\n') + 1;
    for (const [file, size] of JSON.parse(content.toString('latin1', 0, at)) as [string, number][]) {
      found.set(file, content.subarray(at, at + size));
      at += size;
    }
  } catch {
    // The first run of this command.
  } finally {
    if (handle !== undefined) fs.closeSync(handle);
  }
  return found;
}

/** Writes what is compiled now: whole and private, or not at all. */
function keepCode({ root = '', folder = '', file = '' }: Place): void {
  if (!isPrivateFolder(root, folder)) return;
  for (const [name, script] of scripts) kept.set(name, script.createCachedData());
  const names = JSON.stringify([...kept].map(([name, code]) => [name, code.length]));
  const content = Buffer.concat([Buffer.from(`${names}\n`), ...kept.values()]);
  const others = fs.readdirSync(folder);
  if (others.length > MOST_COMMANDS) for (const name of others) fs.rmSync(`${folder}/${name}`, { force: true });
  // Two that end at once replace each other's file by one that is as good.
  const beside = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(beside, Buffer.concat([content, content]), { mode: 0o600, flag: 'wx' });
    fs.renameSync(beside, file);
  } catch (error) {
    fs.rmSync(beside, { force: true });
    throw error;
  }
}

/** Makes it where there is none. Root who runs with the home of another user leaves nothing in it. */
function isPrivateFolder(root: string, folder: string): boolean {
  const uid = process.getuid?.();
  const isOurs = (place: string) => {
    const { uid: owner, mode } = fs.lstatSync(place);
    const closed = (mode & 0o22) === 0 || (mode & 0o1000) !== 0;
    return uid === undefined || ((owner === uid || (owner === 0 && (mode & 0o1000) !== 0)) && closed);
  };
  const all = `${root}/code`;
  const missing: string[] = [];
  let above = folder;
  for (; !fs.existsSync(above); above = dirname(above)) missing.unshift(above);
  if (!isOurs(above)) return false;
  // One by one: Node's own `recursive` never ends where the system says that a folder above is missing.
  for (const each of missing) fs.mkdirSync(each, { mode: 0o700 });
  if (missing.length > 0) removeOld(all, folder);
  return isOurs(all) && isOurs(folder) && fs.lstatSync(folder).isDirectory();
}

/** Code of releases and of Nodes that were not used for a month. */
function removeOld(all: string, folder: string): void {
  for (const name of fs.readdirSync(all)) {
    const other = `${all}/${name}`;
    if (other !== folder && Date.now() - fs.statSync(other).mtimeMs > MONTH_MS) {
      fs.rmSync(other, { recursive: true, force: true });
    }
  }
}
