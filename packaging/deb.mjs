/**
 * Makes build/cardwright_<version>_amd64.deb around the single executable, which packaging/executable.mjs makes first:
 * the program, its manual pages, what each shell completes with, and the licences of everything inside. Times are those
 * of SOURCE_DATE_EPOCH, else of the last commit, so that the same commit gives the same package.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const here = import.meta.dirname;
const root = join(here, '..');
const output = join(here, 'build');
const tree = join(output, 'deb');
const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Whom a system's administrator writes to; who builds a package for others says it. */
const maintainer = process.env.DEB_MAINTAINER ?? 'the cardwright authors <packages@cardwright.invalid>';
const seconds = Number(
  process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
);

/** Directories of the shells' own packages for the completions of others. */
const COMPLETIONS = {
  'cardwright.bash': 'usr/share/bash-completion/completions/cardwright',
  _cardwright: 'usr/share/zsh/vendor-completions/_cardwright',
  'cardwright.fish': 'usr/share/fish/vendor_completions.d/cardwright.fish',
};

rmSync(tree, { recursive: true, force: true });
put('usr/bin/cardwright', join(output, 'cardwright'), 0o755);
for (const [name, path] of Object.entries(COMPLETIONS)) put(path, join(root, 'completions', name));
const manual = join(root, 'man');
for (const name of readdirSync(manual)) {
  write(`usr/share/man/man1/${name}`, compressed(gunzipSync(readFileSync(join(manual, name)))));
}
write('usr/share/doc/cardwright/copyright', copyright());
write('usr/share/doc/cardwright/third-party.gz', compressed(thirdParty()));
write('usr/share/doc/cardwright/changelog.gz', compressed(changelog()));
write('usr/share/doc/cardwright/NEWS.md.gz', compressed(readFileSync(join(root, 'CHANGELOG.md'))));
copyFileSync(join(here, 'lintian-overrides'), made('usr/share/lintian/overrides/cardwright'));

const files = readdirSync(tree, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath, entry.name))
  .sort();
write('DEBIAN/control', control());
write('DEBIAN/md5sums', files.map(path => `${md5(path)}  ${relative(tree, path)}\n`).join(''));
for (const name of ['', ...readdirSync(tree, { recursive: true, encoding: 'utf8' })]) settle(join(tree, name));

const file = join(output, `cardwright_${version}_amd64.deb`);
execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', tree, file], {
  env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.stdout.write(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);

function made(path) {
  const target = join(tree, path);
  mkdirSync(dirname(target), { recursive: true });
  return target;
}

function put(path, from, mode = 0o644) {
  copyFileSync(from, made(path));
  chmodSync(join(tree, path), mode);
}

function write(path, content) {
  writeFileSync(made(path), content);
}

/** Without the name and the time of the file, which would differ from build to build. */
function compressed(content) {
  return gzipSync(content, { level: 9 });
}

function md5(path) {
  return createHash('md5').update(readFileSync(path)).digest('hex');
}

/** Modes that do not depend on the builder's umask, and one time for everything. */
function settle(path) {
  const isProgram = path.endsWith('/usr/bin/cardwright');
  chmodSync(path, statSync(path).isDirectory() || isProgram ? 0o755 : 0o644);
  utimesSync(path, seconds, seconds);
}

function control() {
  const size = files.reduce((sum, path) => sum + Math.ceil(statSync(path).size / 1024), 0);
  return `Package: cardwright
Version: ${version}
Architecture: amd64
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 5.2)
Recommends: ca-certificates
Section: utils
Priority: optional
Description: virtual cards from a terminal, a script or CI
 ${folded(`${description}.`)}
 .
 ${folded('The program is one file with its own Node.js; nothing else is installed or fetched.')}
`;
}

/** Lines of a description, each with the blank that continues it. */
function folded(text) {
  return text.replace(/(.{1,76})(?: +|$)/g, '$1\n ').trim();
}

/** The form that the tools of the system read; what changed is told in the file beside it. */
function changelog() {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  return `cardwright (${version}) unstable; urgency=medium\n\n  * See NEWS.md.gz.\n\n -- ${maintainer}  ${date}\n`;
}

function copyright() {
  return `${readFileSync(join(root, 'LICENSE'), 'utf8')}
The executable contains Node.js and the packages named in third-party.gz, beside this file, each under the licence given
there.
`;
}

function thirdParty() {
  const inside = [
    ['Node.js, the runtime inside the executable', join(here, 'node_modules', 'node-26', 'LICENSE')],
    ['Packages inside the executable', join(output, 'program', 'notices.txt')],
  ];
  return inside.map(([title, path]) => `${title}\n\n${readFileSync(path, 'utf8')}`).join('\n\n');
}
