/** The pages that show a person how to use the program: the README and the guides. Their examples are run. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const GUIDES = join('docs', 'guide');

/** Paths from the root of the repository. */
export const GUIDE_PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, GUIDES)).map(name => join(GUIDES, name)),
];
