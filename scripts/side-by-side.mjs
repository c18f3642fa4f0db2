/**
 * Runs scripts of package.json side by side, for each of them leaves a core idle: `node scripts/side-by-side.mjs lint
 * build`. Tells what each wrote when it has ended, so that nothing mixes. Ends with the first code that is not 0.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

const names = process.argv.slice(2);
const codes = await Promise.all(names.map(run));
process.exitCode = codes.find(code => code !== 0) ?? 0;

async function run(name) {
  // By way of npm for its paths to the programs of packages; Windows finds npm through a shell only.
  const child = spawn('npm', ['run', name], { shell: process.platform === 'win32' });
  const written = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => written.push(chunk));
  const [code] = await once(child, 'close');
  process.stdout.write(Buffer.concat(written));
  return code ?? 1;
}
