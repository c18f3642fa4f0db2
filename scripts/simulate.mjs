/** `npm run simulate -- --seeds N [--seed S]`: builds the simulator of test/simulation and runs it. */
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const outfile = join(root, 'node_modules', '.cache', 'simulation', 'main.mjs');
if (!process.argv.includes('--worker')) {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/simulation/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    define: { 'import.meta.dirname': JSON.stringify(join(root, 'test', 'simulation')) },
    outfile,
  });
}
await import(outfile);
