/** The releases of Node the program is proved on; `cd packaging && npm ci --ignore-scripts` brings them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './built.ts';

/** Major releases and paths. Throws where they are not installed: a proof that did not run is no proof. */
export const NODES: readonly (readonly [number, string])[] = [20, 22, 24, 26].map(major => {
  const path = join(ROOT, 'packaging', 'node_modules', `node-${major}`, 'bin', 'node');
  if (!existsSync(path)) throw new Error('first: cd packaging && npm ci --ignore-scripts');
  return [major, path];
});
