/**
 * Writes what is made from code: the reference, the list of manual pages in package.json, llms.txt, the lists of the skill,
 * and the schema of fleet files. With --check nothing is written; a file that differs is named and the exit code is 1.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes('--check');
const folder = await mkdtemp(join(tmpdir(), 'cardwright-generate-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** A module of src/, bundled in memory. */
async function load(path) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // Packages that are CommonJS ask for what Node has.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    write: false,
  });
  // From a file, not a data URL: an error would quote the whole of it.
  const file = join(folder, `${basename(path, '.ts')}.mjs`);
  await writeFile(file, outputFiles[0].text);
  return import(pathToFileURL(file).href);
}

const { REGISTRY } = await load('src/commands/registry.ts');
const { llmsText, manualPages, referencePages, skillText } = await load('src/cli/docs/reference.ts');
const files = [...(await referencePages(REGISTRY))].map(([name, text]) => [join('docs', 'reference', name), text]);
// The pages themselves are made by the build. npm puts pages where `man` finds them by their names alone, not by the folder.
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const man = [...(await manualPages(REGISTRY))].map(([name]) => `./man/${name}.gz`).sort();
files.push(['package.json', `${JSON.stringify({ ...manifest, man }, null, 2)}\n`]);
const { fleetSchema } = await load('src/fleet/schema.ts');
files.push([join('examples', 'fleet', 'fleet-1.schema.json'), `${JSON.stringify(fleetSchema(), null, 2)}\n`]);
files.push(['llms.txt', await llmsText(REGISTRY)]);
const skill = join('skills', 'cardwright', 'SKILL.md');
files.push([skill, await skillText(REGISTRY, await readFile(join(root, skill), 'utf8'))]);

// A page of a command that is gone goes too.
for (const name of await readdir(join(root, 'docs', 'reference'))) {
  const path = join('docs', 'reference', name);
  if (files.some(([made]) => made === path)) continue;
  process.stderr.write(`${path} is of a command that is gone\n`);
  if (check) process.exitCode = 1;
  else await rm(join(root, path));
}

for (const [name, text] of files) {
  const path = join(root, name);
  const before = await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (before === text) continue;
  if (check) {
    process.stderr.write(`${name} is not what the code says: npm run generate\n`);
    process.exitCode = 1;
  } else {
    await writeFile(path, text);
    process.stdout.write(`wrote ${name}\n`);
  }
}
