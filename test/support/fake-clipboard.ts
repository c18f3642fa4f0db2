/** A program that behaves like xclip, for tests of what is copied. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A clipboard of a file; what it was called with, and its environment, stand in others. */
export async function fakeXclip(place: string): Promise<void> {
  const script = `#!/bin/sh
echo "$*" >> '${place}/args'
env > '${place}/env'
case "$*" in *-o*) cat '${place}/board' ;; *) cat > '${place}/board' ;; esac
`;
  await writeFile(join(place, 'xclip'), script);
  await chmod(join(place, 'xclip'), 0o755);
}
