import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './built.ts';

/** Licences that allow copies in a program under the MIT licence; another one is a decision, and a line here. */
const ALLOWED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'BlueOak-1.0.0'];

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
}

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const notices = readFileSync(join(ROOT, 'dist', 'notices.txt'), 'utf8')
  .split(`\n${'-'.repeat(72)}\n\n`)
  .map(text => {
    const [, name = '', version = '', license = ''] = /^(\S+) (\S+) \((.*)\)$/m.exec(text) ?? [];
    return { name, version, license, text };
  });

describe('a package inside the bundle', () => {
  it('is one of many', () => expect(notices.length).toBeGreaterThan(15));

  it.each(notices)('$name $version ($license) may be copied, and its licence is there', notice => {
    expect(ALLOWED).toContain(notice.license);
    const locked = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${notice.name}`));
    const { version, license } = notice;
    expect(locked.map(([, entry]) => entry)).toContainEqual(expect.objectContaining({ version, license }));
    expect(notice.text).toMatch(/copyright|permission/i);
    expect(notice.text.length).toBeGreaterThan(500);
  });
});

it('what npm installs beside it may be copied', () => {
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  expect(installed.length).toBeGreaterThan(0);
  expect(installed.filter(([, { license }]) => !ALLOWED.includes(license ?? '')).map(([path]) => path)).toEqual([]);
});
