/**
 * The text of dist/main.js, behind the tables that the build puts before it: `files`, `places` (the file of each
 * piece, by numbers), `wide` (files that are not ASCII), `nodeModules`, `commandWords`, `bundle` (name of this build), `version`, and `foldersFor` of
 * src. It opens the files of the build, each piece when something of it is first used.
 *
 * V8's compiled code is kept in the cache folder of the user: compiling is a third of a short command. It is read here
 * and written by keep-code.cjs when a run has ended. A file of somebody else, or one that is damaged, is never used.
 */
const { closeSync, constants, fstatSync, openSync, readFileSync, readSync } = require('node:fs');
const { Script } = require('node:vm');
const made = [];
const opened = { __proto__: null };
/** Scripts of this run, and how much compiled code of each was there. */
const scripts = new Map();
const isAsset = typeof CARDWRIGHT_ASSET === 'function';
const read = isAsset ? CARDWRIGHT_ASSET : name => readFileSync(`${__dirname}/${name}`);
/**
 * A magic number and the length of the compiled code, each four bytes; then the code, twice. Two copies that are equal are
 * whole, and to compare them needs no module of Node's: loading zlib for a checksum takes 2 ms.
 */
const HEADER = 8;
const MAGIC = 0x43574344;
const cache = isAsset ? { says: 'inside of the executable', used: 0 } : codeCache();

function codeCache() {
  const { env, platform, arch, versions } = process;
  if (env.CARDWRIGHT_CACHE === 'off') return { says: 'off, by CARDWRIGHT_CACHE', used: 0 };
  try {
    // What os.homedir() reads first; loading that module takes a third of a millisecond.
    const home = (platform !== 'win32' && env.HOME) || require('node:os').homedir();
    const root = env.CARDWRIGHT_CACHE || foldersFor({ env, platform, home, temporary: '' }).cache;
    if (!require('node:path').isAbsolute(root)) return { says: 'off: its folder is no absolute path', used: 0 };
    const folder = `${root}/code/${version}-${bundle}-${versions.v8}-${platform}-${arch}`;
    return { root, folder, says: folder, used: 0 };
  } catch {
    return { says: 'off: this user has no home folder', used: 0 };
  }
}

/** The compiled code of a file; undefined where there is none that may be used. */
function compiledCode(file) {
  if (isAsset) {
    try {
      return read(`${file}.code`);
    } catch {
      return undefined;
    }
  }
  if (cache.folder === undefined) return undefined;
  let handle;
  try {
    handle = openSync(`${cache.folder}/${file}.code`, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { size, mode, uid } = fstatSync(handle);
    // Whoever else could have written it could have this process run what they like.
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o177077) === 0o100000);
    if (!isOurs || size <= HEADER || size > 1 << 26) return undefined;
    const bytes = Buffer.allocUnsafeSlow(size);
    if (readSync(handle, bytes, 0, size, 0) !== size) return undefined;
    const length = bytes.readUInt32LE(4);
    if (bytes.readUInt32LE(0) !== MAGIC || size !== HEADER + 2 * length) return undefined;
    // V8 itself looks at versions and lengths only.
    const code = bytes.subarray(HEADER, HEADER + length);
    return code.equals(bytes.subarray(HEADER + length)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function open(file) {
  if (opened[file]) return opened[file];
  const filename = `${__dirname}/${file}`;
  const cachedData = compiledCode(file);
  const bytes = read(file);
  const text = wide.includes(file) ? bytes.toString() : bytes.latin1Slice();
  const script = new Script(text, { filename, cachedData });
  const isUsed = script.cachedDataRejected === false;
  if (isUsed) cache.used += 1;
  scripts.set(file, { script, size: isUsed ? cachedData.length : 0 });
  opened[file] = script.runInThisContext()(require, filename, $piece, $node);
  return opened[file];
}

function $piece(number) {
  let module = made[number];
  if (module === undefined) {
    module = { exports: {} };
    made[number] = module;
    open(files[places[number]])[number](module, module.exports);
  }
  return module.exports;
}
$piece.read = read;
$piece.codeCache = cache;

const $node = { __proto__: null };
for (const name of nodeModules) {
  Object.defineProperty($node, name, {
    configurable: true,
    get() {
      const value = require(`node:${name}`);
      Object.defineProperty($node, name, { value });
      return value;
    },
  });
}

/** What the run was asked for, in words of the program alone: each such line adds what it used to the cache, once. */
const line = process.argv
  .slice(2)
  .filter(word => commandWords.includes(word))
  .slice(0, 6)
  .join(' ');

function isKnownLine() {
  try {
    return readFileSync(`${cache.folder}/lines`, 'latin1').includes(`\n${line}\n`);
  } catch {
    return false;
  }
}

if (cache.folder !== undefined && !isKnownLine()) {
  // Before the program changes a flag of V8.
  const fresh = new Script('0').createCachedData();
  process.on('exit', () => {
    try {
      require('./keep-code.js')({ ...cache, line, scripts, fresh, MAGIC, HEADER });
    } catch {
      // Without its cache the program starts later and does the same.
    }
  });
}
$piece(0);
