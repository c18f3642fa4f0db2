/**
 * Writes what the program is made of as a CycloneDX document, from `npm sbom`: packages that are installed beside it, and
 * those inside the bundle, which are development dependencies to npm. Tools that only build and test are left out.
 *
 *     node packaging/sbom.mjs <file>
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('the file to write is missing');

const document = sbom([]);
const installed = sbom(['--omit=dev']).components.map(component => component['bom-ref']);
/** The build begins each notice with the name and version of a package of which code is inside. */
const notices = readFileSync(join(root, 'dist', 'notices.txt'), 'utf8').matchAll(/(?:^|-{72}\n\n)(\S+) (\S+) \(/g);
const bundled = [...notices].map(([, name, version]) => `${name}@${version}`);
const kept = new Set([...installed, ...bundled]);

const main = document.metadata.component;
const missing = [...kept].filter(ref => !document.components.some(component => component['bom-ref'] === ref));
if (missing.length > 0) throw new Error(`npm does not know ${missing.join(', ')}`);
writeFileSync(
  file,
  `${JSON.stringify(
    {
      ...document,
      // npm takes the name of the folder.
      metadata: { ...document.metadata, component: { ...main, name: 'cardwright', type: 'application' } },
      components: document.components.filter(component => kept.has(component['bom-ref'])).map(required),
      dependencies: document.dependencies
        .filter(({ ref }) => ref === main['bom-ref'] || kept.has(ref))
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(other => kept.has(other)) })),
    },
    null,
    2,
  )}\n`,
);

function sbom(options) {
  const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', ...options];
  return JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}

/** What is in the bundle is no longer optional, nor for development only. */
function required(component) {
  const properties = (component.properties ?? []).filter(({ name }) => name !== 'cdx:npm:package:development');
  return { ...component, scope: installed.includes(component['bom-ref']) ? component.scope : 'required', properties };
}
