/** Makes everything a release publishes, in build/release: the tarball of npm, the executable, the .deb, the SBOM, sums. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '..');
const output = join(here, 'build');
const release = join(output, 'release');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

for (const script of ['executable.mjs', 'deb.mjs']) run(process.execPath, join(here, script));
mkdirSync(release);
run('npm', 'pack', '--ignore-scripts', '--pack-destination', release);
run(process.execPath, join(here, 'sbom.mjs'), join(release, `cardwright-${version}.cdx.json`));
copyFileSync(join(output, `cardwright_${version}_amd64.deb`), join(release, `cardwright_${version}_amd64.deb`));
run(
  'tar',
  '--create',
  // On every core: one alone takes a minute for it.
  '--use-compress-program=xz --threads=0',
  '--file',
  join(release, `cardwright-${version}-linux-x64.tar.xz`),
  '-C',
  output,
  'cardwright',
);

const sums = readdirSync(release)
  .sort()
  .map(
    name =>
      `${createHash('sha256')
        .update(readFileSync(join(release, name)))
        .digest('hex')}  ${name}\n`,
  );
writeFileSync(join(release, 'SHA256SUMS'), sums.join(''));

function run(file, ...words) {
  execFileSync(file, words, { cwd: root, stdio: 'inherit' });
}
