/**
 * Citations lead somewhere. Comments and pages name pages of `docs/` and places in them: `docs/design/cli.md, "Bulk"`,
 * `docs/design/reliability.md, section 6`, `docs/design/security.md, H1 to H8`. The page must be there, and so must the
 * place: a section as a numbered heading, a title as a heading or a row, a code as a row or a heading.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../src/contract/operations.ts';

const root = join(import.meta.dirname, '..');
const DESIGN = 'docs/design';
const ASSUMPTIONS = `${DESIGN}/contract-and-assumptions.md`;
const ITSELF = relative(root, import.meta.filename);

/** What people read and write; neither what is generated nor data. */
const PLACES = ['src', 'test', 'scripts', 'docs', 'packaging', '.github', '.ci'];
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'CODE_OF_CONDUCT.md', 'action.yml'];
const READ = /\.(?:ts|mts|mjs|cjs|cts|md|json|yml|sh)$/;

const files = [...PLACES.flatMap(filesBelow), ...PAGES].filter(name => name !== ITSELF && existsSync(join(root, name)));
const texts = new Map(files.map(name => [name, readFileSync(join(root, name), 'utf8')]));

function filesBelow(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(name => READ.test(name) && !name.includes('node_modules') && statSync(join(root, name)).isFile());
}

/** A citation may go on in the next line of a comment. */
function inOneLine(text: string): string {
  return text.replace(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ');
}

interface Citation {
  readonly from: string;
  readonly page: string;
  readonly sections: readonly string[];
  readonly titles: readonly string[];
  readonly codes: readonly string[];
}

const CODE = '[A-L]-?\\d{1,3}';
const NEXT = '(?:,| and| to) ';
const TAIL = [
  `,? sections? (?<sections>\\d+(?:${NEXT}\\d+)*)`,
  `, "(?<title>[^"]{1,60})"`,
  `,? (?<codes>${CODE}(?:${NEXT}${CODE})*)`,
].map(pattern => new RegExp(`^${pattern}`));

/** What of a text names a page, with the places in it that follow. */
function citationsIn(from: string, text: string): Citation[] {
  const line = inOneLine(text);
  return [...line.matchAll(/(?<![\w./-])(?:docs\/[\w/-]+|[a-z-]+)\.md(?!\w)/g)].flatMap(({ 0: named, index }) => {
    const page = named.startsWith('docs/') ? named : join(DESIGN, named);
    // Elsewhere a bare name may be that of any page.
    if (!named.startsWith('docs/') && dirname(from) !== DESIGN) return [];
    const found = { sections: [] as string[], titles: [] as string[], codes: [] as string[] };
    let rest = line.slice(index + named.length);
    for (let match = next(rest); match !== undefined; match = next(rest)) {
      const { sections, title, codes } = match.groups ?? {};
      if (sections !== undefined) found.sections.push(...(sections.match(/\d+/g) ?? []));
      if (title !== undefined) found.titles.push(title);
      if (codes !== undefined) found.codes.push(...(codes.match(new RegExp(CODE, 'g')) ?? []));
      rest = rest.slice(match[0].length);
    }
    return [{ from, page, ...found }];
  });
}

function next(rest: string): RegExpExecArray | undefined {
  for (const pattern of TAIL) {
    const match = pattern.exec(rest);
    if (match !== null) return match;
  }
  return undefined;
}

interface Contents {
  /** Numbers of headings. */
  readonly sections: ReadonlySet<string>;
  /** Headings without their number, and first cells of rows. */
  readonly titles: ReadonlySet<string>;
  /** First words of headings and rows. */
  readonly codes: ReadonlySet<string>;
  /** As links name headings. */
  readonly anchors: ReadonlySet<string>;
}

function plain(text: string): string {
  return text
    .replace(/[`*]/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim();
}

function contentsOf(page: string): Contents {
  const lines = (texts.get(page) ?? readFileSync(join(root, page), 'utf8'))
    .replace(/^```[\s\S]*?^```/gm, '')
    .split('\n');
  const headings = lines.flatMap(line => /^#{1,6} (.*)$/.exec(line)?.[1] ?? []).map(plain);
  const cells = lines
    .filter(line => line.startsWith('|'))
    .map(line =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map(plain),
    );
  const first = [...headings, ...cells.map(([cell = '']) => cell)];
  return {
    sections: new Set(headings.flatMap(heading => /^(\d+)\. /.exec(heading)?.[1] ?? [])),
    titles: new Set(first.map(text => text.replace(/^\d+\. /, ''))),
    codes: new Set(first.flatMap(text => new RegExp(`^${CODE}\\b`).exec(text)?.[0] ?? [])),
    anchors: new Set(
      headings.map(heading =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
      ),
    ),
  };
}

const known = new Map<string, Contents>();
function contents(page: string): Contents {
  const found = known.get(page) ?? contentsOf(page);
  known.set(page, found);
  return found;
}

function problemOf({ page, sections, titles, codes }: Citation): string | undefined {
  if (!existsSync(join(root, page))) return `${page} is not there`;
  const there = contents(page);
  const missing = [
    ...sections.filter(section => !there.sections.has(section)).map(section => `section ${section}`),
    ...titles.filter(title => !there.titles.has(title)).map(title => JSON.stringify(title)),
    ...codes.filter(code => !there.codes.has(code)),
  ];
  return missing.length === 0 ? undefined : `${page} has no ${missing.join(', ')}`;
}

describe('what is cited', () => {
  const citations = [...texts].flatMap(([name, text]) => citationsIn(name, text));

  it('is there: pages of docs/, their sections, titles and codes', () => {
    const wrong = citations.flatMap(each => {
      const problem = problemOf(each);
      return problem === undefined ? [] : [`${each.from}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  it('is found in comments that go on in another line, and a wrong place is told', () => {
    const found = citationsIn(
      'src/x.ts',
      '/**\n * As said (docs/design/cli.md, sections 1 and 3; docs/CI.md;\n * docs/design/security.md,\n * H1 to H8, H99).\n */',
    );
    expect(found.map(({ page }) => page)).toEqual(['docs/design/cli.md', 'docs/CI.md', 'docs/design/security.md']);
    expect(found.map(problemOf)).toEqual([
      'docs/design/cli.md has no section 1, section 3',
      undefined,
      'docs/design/security.md has no H99',
    ]);
    const [title] = citationsIn('src/x.ts', '// (docs/design/cli.md, "Bulk ado")');
    expect(title && problemOf(title)).toBe('docs/design/cli.md has no "Bulk ado"');
    expect(citationsIn('src/x.ts', '// docs/design/none.md').map(problemOf)).toEqual([
      'docs/design/none.md is not there',
    ]);
  });

  it('has the name it has here: no page of elsewhere', () => {
    const old =
      /\b(?:RELIABILITY|ASSUMPTIONS)\b(?!_)|\b(?:SANDBOX|TERMINAL|CLI|DESIGN|EXAMPLES)(?:\.md\b|,? sections? \d|, "|, \d)/;
    expect([...texts].filter(([, text]) => old.test(inOneLine(text))).map(([name]) => name)).toEqual([]);
  });

  it('names assumptions that the contract has', () => {
    const assumed = JSON.parse(texts.get('src/contract/assumptions.json') ?? '{}') as object;
    const wrong = [...texts]
      .filter(([name]) => name.startsWith('src/') || name.startsWith(DESIGN))
      .flatMap(([name, text]) => [...text.matchAll(/\bA-\d{2,3}\b/g)].map(([code]) => ({ name, code })))
      .filter(({ code }) => !Object.hasOwn(assumed, code));
    expect(wrong).toEqual([]);
  });

  it('has every assumption of the contract in the table of sections, and a test of each in test/sandbox/README.md', () => {
    const assumed = Object.keys(JSON.parse(texts.get('src/contract/assumptions.json') ?? '{}') as object);
    const [table = ''] = /^\| section of the interface[\s\S]*?\n\n/m.exec(texts.get(ASSUMPTIONS) ?? '') ?? [];
    const proofs = texts.get('test/sandbox/README.md') ?? '';
    expect(assumed.filter(code => !codesIn(table).has(code))).toEqual([]);
    expect(assumed.filter(code => !codesIn(proofs).has(code))).toEqual([]);
  });
});

/** Numbers of assumptions in a text: `A-01..A-17` and `A-01 to A-17` are seventeen. */
function codesIn(text: string): ReadonlySet<string> {
  const ranges = text.matchAll(/A-(\d+)(?:(?:\.\.| to )A-(\d+))?/g);
  return new Set(
    [...ranges].flatMap(([, first = '', last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => {
        return `A-${String(Number(first) + index).padStart(2, '0')}`;
      }),
    ),
  );
}

describe('effects', () => {
  it('stand in the page with the operations that have them', () => {
    const [table = ''] = /^\| `effect` \| operations[\s\S]*?\n\n/m.exec(texts.get(ASSUMPTIONS) ?? '') ?? [];
    const rows = [...table.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)];
    const written = rows.flatMap(([, effect, cell = '']) =>
      [...cell.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => `${name} ${effect}`),
    );
    const there = Object.entries(OPERATIONS).map(([name, { effect }]) => `${name} ${effect}`);
    expect(written.toSorted()).toEqual(there.toSorted());
  });
});

describe('reading rules', () => {
  it('have the numbers of the page', () => {
    const [rules = ''] =
      /^## 1\. Reading rules$[\s\S]*?(?=^## )/m.exec(texts.get(`${DESIGN}/contract-and-assumptions.md`) ?? '') ?? [];
    const there = new Set([...rules.matchAll(/^(?:\| *)?(\d+)(?:\. | *\|)/gm)].map(([, number]) => number));
    const wrong = [...texts].flatMap(([name, text]) =>
      [...inOneLine(text).matchAll(/reading rules? (\d+(?:(?:,| and) \d+)*)/g)]
        .flatMap(([, numbers = '']) => numbers.match(/\d+/g) ?? [])
        .filter(number => !there.has(number))
        .map(number => `${name}: reading rule ${number}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('links between pages', () => {
  it('lead to files and headings', () => {
    const wrong = files
      .filter(name => name.endsWith('.md') && !name.startsWith('test/transcripts/'))
      .flatMap(name =>
        [...(texts.get(name) ?? '').replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].flatMap(
          ([, target = '']) => {
            const [path = '', anchor] = target.split('#');
            const page = path === '' ? name : relative(root, resolve(root, dirname(name), path));
            if (!existsSync(join(root, page))) return [`${name}: ${target}`];
            const isHeading = anchor === undefined || !page.endsWith('.md') || contents(page).anchors.has(anchor);
            return isHeading ? [] : [`${name}: ${basename(page)} has no heading #${anchor}`];
          },
        ),
      );
    expect(wrong).toEqual([]);
  });
});
