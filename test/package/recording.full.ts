import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { requires } from '../support/programs.ts';
import { ROOT } from './built.ts';

it.skipIf(requires('script'))('the picture of the README shows what the program prints today', () => {
  const words = [join(ROOT, 'scripts', 'record.mjs'), '--check'];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
