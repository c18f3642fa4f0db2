import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src');

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name));
const texts = new Map(files.map(name => [name, readFileSync(join(source, name), 'utf8')]));

/** What a folder of `src/` may import besides itself: its line in the map, without what that explains. */
const ARROWS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [...readFileSync(join(source, 'README.md'), 'utf8').matchAll(/^(\S.*?) +-> {2}(.*)$/gm)].flatMap(
    ([, from = '', to = '']) =>
      from.split(', ').map(room => [room, to.replace(/\(.*?\)|:.*/g, '').match(/[a-z-]+(?:\.ts)?/g) ?? []]),
  ),
);

/** Folders below the top ones that lead back to each other, each with its reason. */
const MEANT_FOLDER_CIRCLES: readonly (readonly string[])[] = [
  // The declaration of a command names the context and the rows of a run, and both name the declaration.
  ['cli', 'cli/bulk', 'cli/completion', 'cli/docs', 'cli/parsing'],
  // Groups of commands share columns and flags with each other; each is loaded alone all the same.
  ['commands/tx', 'commands/wait'],
];

/** Files that lead back to each other, each with its reason. */
const MEANT_FILE_CIRCLES: readonly (readonly string[])[] = [
  // What tells of every command is a command itself.
  ['commands/commands.ts', 'commands/registry.ts', 'commands/schema.ts'],
];

/** The one home of each package, which has a row with its reason there. */
const HOMES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...readFileSync(join(root, 'docs', 'decisions', '0022-packages.md'), 'utf8').matchAll(
      /^\| `([^`]+)` \| `([^`]+)` \| .*\S.* \|$/gm,
    ),
  ].map(([, name, home]) => [name, home]),
);

interface Import {
  readonly from: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

function importsOf(name: string): Import[] {
  const text = texts.get(name) ?? '';
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)'/gms),
    ...text.matchAll(/()\b(?:import|require|createRequire\(import\.meta\.url\)|find)\(\s*'([^']+)'/g),
  ];
  return found.map(([whole, type, target = '']) => ({
    from: name,
    target,
    typeOnly: type !== undefined && type !== '' && whole.startsWith('import type'),
  }));
}

const imports = files.flatMap(importsOf);

function roomOf(name: string): string {
  return name.includes('/') ? (name.split('/')[0] ?? '') : name;
}

function resolved({ from, target }: Import): string {
  return relative(source, resolve(source, dirname(from), target));
}

/** A folder of `src/`, with all folders below it: `journal/wal`; the entries stand for themselves. */
function folderOf(name: string): string {
  return name.includes('/') ? dirname(name) : name;
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  /** The files that make it. */
  readonly by: readonly string[];
}

function arrowsBetween(placeOf: (name: string) => string): Arrow[] {
  const by = new Map<string, string[]>();
  for (const found of imports.filter(({ target }) => target.startsWith('.'))) {
    const to = resolved(found);
    const [from, other] = [placeOf(found.from), placeOf(to)];
    if (from === other) continue;
    const key = `${from} -> ${other}`;
    by.set(key, [...(by.get(key) ?? []), `${found.from} -> ${to}`]);
  }
  return [...by].map(([key, files]) => {
    const [from = '', to = ''] = key.split(' -> ');
    return { from, to, by: files };
  });
}

/** Places that lead back to themselves, with the arrows between them. */
function circlesOf(arrows: readonly Arrow[]): Arrow[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of arrows) targets.set(from, [...(targets.get(from) ?? []), to]);
  const isReached = (from: string, wanted: string) => {
    const seen = new Set<string>();
    const next = [...(targets.get(from) ?? [])];
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (at === wanted) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      next.push(...(targets.get(at) ?? []));
    }
    return false;
  };
  return arrows.filter(({ from, to }) => isReached(to, from));
}

describe('arrows', () => {
  const top = arrowsBetween(roomOf);

  it('every folder imports only what the table allows', () => {
    const wrong = top.filter(({ from, to }) => from !== 'app' && !ARROWS[from]?.includes(to));
    expect(wrong.flatMap(({ by }) => by)).toEqual([]);
  });

  it.each([
    ['folder', folderOf, MEANT_FOLDER_CIRCLES],
    ['file', (name: string) => name, MEANT_FILE_CIRCLES],
  ] as const)('no %s leads back to itself, types included', (_what, placeOf, meantCircles) => {
    const circles = circlesOf(arrowsBetween(placeOf));
    const isIn = (circle: readonly string[], { from, to }: Arrow) => circle.includes(from) && circle.includes(to);
    const unmeant = circles.filter(arrow => !meantCircles.some(circle => isIn(circle, arrow)));
    expect(unmeant.flatMap(({ by }) => by)).toEqual([]);
    // A circle that is gone is not meant any more.
    for (const circle of meantCircles)
      expect(
        circles.some(arrow => isIn(circle, arrow)),
        circle.join(),
      ).toBe(true);
  });

  it('the map names every folder, those inside of others too', () => {
    const map = readFileSync(join(source, 'README.md'), 'utf8');
    const folders = new Set(files.filter(name => name.includes('/') && !name.startsWith('commands/')).map(folderOf));
    const last = (folder: string) => folder.split('/').at(-1) ?? folder;
    expect([...folders].filter(folder => !map.includes(`\`${last(folder)}/\``))).toEqual([]);
  });

  it('nothing but the composition touches process, the real clock or chance', () => {
    const touching = /\bprocess\.|\bDate\.now\(|\bMath\.random\(|\bconsole\.|\bnew Date\(\)/;
    const stripped = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const wrong = files.filter(name => !HOST_FILES.includes(name) && touching.test(stripped(texts.get(name) ?? '')));
    expect(wrong).toEqual([]);
  });
});

/**
 * The real surroundings: of the program, and of the library entry that has no host to be given. Opening SQLite asks the
 * runtime which it has, and mutes the one warning that asking causes.
 */
const HOST_FILES = [
  'main.ts',
  'loader.ts',
  'platform/v8.ts',
  'library/client.ts',
  'app/process-host.ts',
  'sandbox/serving/start.ts',
  'engine/open.ts',
];

describe('packages', () => {
  const declared = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
    optionalDependencies: Record<string, string>;
  };

  it('have one home file each', () => {
    const foreign = imports.filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'));
    const packageOf = (target: string) =>
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/');
    const wrong = foreign.filter(({ from, target }) => {
      const home = HOMES[packageOf(target)];
      return home === undefined || (home !== from && !(isTypeOnlyUse(from, target) && roomOf(home) === roomOf(from)));
    });
    expect(wrong.map(({ from, target }) => `${from} imports ${target}`)).toEqual([]);
  });

  it('are used where they are declared to live', () => {
    for (const [name, home] of Object.entries(HOMES)) {
      const used = imports.some(
        ({ from, target }) => from === home && (target === name || target.startsWith(`${name}/`)),
      );
      expect(used, `${home} does not import ${name}`).toBe(true);
      expect(
        declared.dependencies[name] ?? declared.optionalDependencies[name] ?? declared.devDependencies[name],
        `${name} is not declared`,
      ).toMatch(/^\d/);
    }
  });

  it('only the SQLite package is installed with the program', () => {
    expect(Object.keys(declared.dependencies)).toEqual(['@photostructure/sqlite']);
    // Used where it is there: without it the keychain is said to be missing, and nothing else changes.
    expect(Object.keys(declared.optionalDependencies)).toEqual(['@napi-rs/keyring']);
  });
});

/** A room may name a package's types beside its home. */
function isTypeOnlyUse(from: string, target: string): boolean {
  return imports.filter(found => found.from === from && found.target === target).every(({ typeOnly }) => typeOnly);
}

describe('house rules', () => {
  it('a command stands in the folder of its group, or in the file of that name', async () => {
    const { REGISTRY } = await import('../src/commands/registry.ts');
    // A simulation is declared by its name.
    const named = /path: '([^']+)',|= (simulate)\('([^']+)'/g;
    const declared = [...texts].flatMap(([name, text]) => {
      const paths = Array.from(text.matchAll(named), ([, path, of, word]) => path ?? `sandbox ${of} ${word}`);
      return [...new Set(paths)].map(path => ({ name, path }));
    });
    for (const group of REGISTRY) {
      for (const [words, load] of Object.entries(await group.leaves())) {
        const { path, summary } = await load();
        expect(words).toBe(path);
        const declares = declared.filter(each => each.path === path).map(({ name }) => name);
        const [word] = path.split(' ');
        expect(declares, path).toEqual([expect.stringMatching(`^commands/${word}(/.*)?\\.ts$`)]);
        expect(summary, path).not.toMatch(/\.$/);
      }
    }
  });

  it('uses no module mocks, spies or environment writes in tests', () => {
    const forbidden =
      /\bvi\.(?:do)?mock\(|\bvi\.(?:spyOn|stubEnv|useFakeTimers)\(|\bprocess\.env(?:\.\w+|\[[^\]]+\]) =[^=]|delete process\.env/i;
    // What this one shows is that a suite may fake its timers.
    const meant = ['structure.test.ts', 'sandbox/fake-timers.test.ts'];
    const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
      name => name.endsWith('.ts') && !name.includes('node_modules') && !meant.includes(name),
    );
    expect(tests.filter(name => forbidden.test(readFileSync(join(root, 'test', name), 'utf8')))).toEqual([]);
  });

  it('a docstring says what a thing is, and not what it is like', () => {
    const likened = [...texts].filter(([, text]) => /\/\*\*\s+(?:\*\s+)?(?:The same|As |See )/.test(text));
    expect(likened.map(([name]) => name)).toEqual([]);
  });

  it('names pages that are there', () => {
    const pages = [...texts].flatMap(([name, text]) =>
      (text.match(/\bdocs\/[\w/-]+\.md\b/g) ?? []).map(page => [name, page]),
    );
    expect(pages.filter(([, page = '']) => !existsSync(join(root, page)))).toEqual([]);
  });
});
