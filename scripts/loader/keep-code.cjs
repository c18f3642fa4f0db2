/**
 * Writes down, when a run has ended, the compiled code of the files it opened: whole and private, or not at all. Code
 * that came from the cache is kept with what this run compiled besides.
 */
const fs = require('node:fs');
const { dirname } = require('node:path');
const { Script } = require('node:vm');

/** A file grows for this much new code; what is less is compiled again sooner than it is written. */
const WORTH_WRITING = 1.02;
const MONTH_MS = 30 * 24 * 3_600_000;

module.exports = function keepCode({ root, folder, line, scripts, fresh, MAGIC, HEADER }) {
  const flags = changedFlags(fresh);
  if (flags === undefined || !isPrivateFolder(root, folder)) return;
  for (const [file, { script, size }] of scripts) {
    const code = script.createCachedData();
    if (code.length < size * WORTH_WRITING) continue;
    for (const at of flags) fresh.copy(code, at, at, at + 4);
    const head = Buffer.alloc(HEADER);
    head.writeUInt32LE(MAGIC, 0);
    head.writeUInt32LE(code.length, 4);
    replaceFile(`${folder}/${file}.code`, Buffer.concat([head, code, code]));
  }
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = fs.constants;
  const lines = fs.openSync(`${folder}/lines`, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  fs.writeSync(lines, `\n${line}\n`);
  fs.closeSync(lines);
};

/**
 * Where the head of compiled code names the flags of V8. The program sets some for itself, of WebAssembly and of garbage
 * collection, which change no compiled code; V8 would refuse it all the same in a process that has not set them yet. The
 * place is where the same script is named otherwise now than it was at the start. Undefined where that is not plain.
 */
function changedFlags(fresh) {
  const now = new Script('0').createCachedData();
  if (now.length !== fresh.length) return undefined;
  const places = [];
  for (let at = 0; at < 32; at += 4) if (now.readUInt32LE(at) !== fresh.readUInt32LE(at)) places.push(at);
  return places.length > 1 ? undefined : places;
}

/** Makes it where there is none. Root who runs with the home of another user leaves nothing in it. */
function isPrivateFolder(root, folder) {
  const uid = process.getuid?.();
  const isOurs = place => {
    const { uid: owner, mode } = fs.lstatSync(place);
    const closed = (mode & 0o22) === 0 || (mode & 0o1000) !== 0;
    return uid === undefined || ((owner === uid || (owner === 0 && (mode & 0o1000) !== 0)) && closed);
  };
  const all = `${root}/code`;
  const missing = [];
  let above = folder;
  for (; !fs.existsSync(above); above = dirname(above)) missing.unshift(above);
  if (!isOurs(above)) return false;
  // One by one: Node's own `recursive` never ends where the system says that a folder above is missing.
  for (const each of missing) fs.mkdirSync(each, { mode: 0o700 });
  if (missing.length > 0) removeOld(all, folder);
  return isOurs(all) && isOurs(folder) && fs.lstatSync(folder).isDirectory();
}

/** Code of releases and of Nodes that were not used for a month. */
function removeOld(all, folder) {
  for (const name of fs.readdirSync(all)) {
    const other = `${all}/${name}`;
    if (other !== folder && Date.now() - fs.statSync(other).mtimeMs > MONTH_MS) {
      fs.rmSync(other, { recursive: true, force: true });
    }
  }
}

/** Two that end at once replace each other's file by one that is as good. */
function replaceFile(path, bytes) {
  const beside = `${path}.${process.pid}`;
  try {
    fs.writeFileSync(beside, bytes, { mode: 0o600, flag: 'wx' });
    fs.renameSync(beside, path);
  } catch (error) {
    fs.rmSync(beside, { force: true });
    throw error;
  }
}
