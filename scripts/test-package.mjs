/** A folder for the one tarball of a test run, which the test that needs it first packs (test/package/tarball.ts). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

export default function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'cwtgz-'));
  process.env.TEST_PACKAGE_FOLDER = folder;
  return () => {
    delete process.env.TEST_PACKAGE_FOLDER;
    rmSync(folder, { recursive: true, force: true });
  };
}
