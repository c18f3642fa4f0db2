/**
 * Gives a run of the tests one folder for everything it puts among temporary files, and takes it away at the end, also
 * what a test left that failed or was stopped. What is still there after the last test is named: its test should
 * remove it.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the tools keep there between runs. */
const OTHERS = /^(?:node-compile-cache|tsx-\d+|v8-compile-cache-\d+)$/;

export default function setup() {
  // Short, for the path of a socket has 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'cwt-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    const left = readdirSync(folder).filter(name => !OTHERS.test(name));
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    if (left.length > 0) process.stderr.write(`left among temporary files: ${left.toSorted().join(', ')}\n`);
  };
}
