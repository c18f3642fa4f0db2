/** The reference and the manual pages: complete, and clean by the judges that are installed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { llmsText, manualPages, referencePages } from '../../src/cli/docs/reference.ts';
import { commandsOf } from '../../src/cli/parsing/declaration.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { requires } from '../support/programs.ts';

const manual = await manualPages(REGISTRY);
const reference = await referencePages(REGISTRY);

/** What a program says of all pages at once. */
function judged(program: string, ...words: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-man-'));
  for (const [name, page] of manual) writeFileSync(join(folder, name), page);
  const { stdout, stderr, status } = spawnSync(program, [...words, ...manual.keys()], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  return { status, says: stdout + stderr };
}

describe('every command, with its options and examples', () => {
  it.each(REGISTRY.map(group => [group.name, group] as const))('%s', async (name, group) => {
    const [page = '', markdown = ''] = [manual.get(`cardwright-${name}.1`), reference.get(`${name}.md`)];
    for (const command of await commandsOf(group)) {
      expect(page).toContain(`\n.Ss ${command.path}\n`);
      expect(markdown).toContain(`\n## ${command.path}\n`);
      for (const flag of command.flags) {
        expect(page).toContain(flag.name.replaceAll('-', '\\-'));
        expect(markdown).toContain(`  ${flag.short === undefined ? '' : `${flag.short}, `}${flag.name}`);
      }
      const words = markdown.replace(/\s+(?:\\\s+)?/g, ' ');
      for (const { run } of command.examples) expect(words).toContain(` $ cardwright ${run} `);
    }
  });

  it('the first page leads to every other', () => {
    for (const { name } of REGISTRY) expect(manual.get('cardwright.1')).toContain(`.Xr cardwright-${name} 1`);
  });
});

describe('manual pages', () => {
  it('are ASCII, and no line of text is taken for a request', () => {
    for (const [name, page] of manual) {
      expect(page, name).toMatch(/^[\n\x20-\x7e]*$/);
      const requests = page.split('\n').filter(line => line.startsWith('.'));
      const known = /^\.(?:Dd|Dt|Os|Sh|Ss|Nm|Nd|Cm|Ar|Op|Pp|Bd|Ed|Bl|El|It|Xr)\b/;
      expect(requests.filter(line => !known.test(line))).toEqual([]);
    }
  });

  it.skipIf(requires('mandoc'))('please mandoc', () => {
    expect(judged('mandoc', '-Tlint', '-W', 'warning')).toEqual({ status: 0, says: '' });
  });

  it.skipIf(requires('groff'))('please groff', () => {
    expect(judged('groff', '-mdoc', '-Tutf8', '-ww', '-z')).toEqual({ status: 0, says: '' });
  });
});

/** At most so many: a token is a short word, up to three digits, or a sign with its neighbour. */
const tokens = (text: string) => (text.match(/[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z\d]{1,2}|\n\s*/g) ?? []).length;

const skillPage = (name: string) => readFileSync(join(import.meta.dirname, '../../skills/cardwright', name), 'utf8');

describe('llms.txt and the skill', () => {
  it('asks little of who reads it, and names what gives little', async () => {
    const skill = skillPage('SKILL.md');
    const references = ['buy', 'unknown', 'month'].map(name => skillPage(`references/${name}.md`));
    expect(tokens([...references, skill].join('\n'))).toBeLessThan(6_000);
    expect(skill.split('\n').length).toBeLessThanOrEqual(120);
    // As `commands --names` prints it where nobody looks.
    const names = (await Promise.all(REGISTRY.map(commandsOf)))
      .flat()
      .map(command => `${command.path}\t${command.summary}\t\t${command.effect}\n`);
    expect(tokens(names.join(''))).toBeLessThan(4_000);
    for (const asks of ['commands --names', 'commands cards', 'schema cards create', 'explain 11'])
      expect(skill).toContain(asks);
  });

  it('name every command, and every one that changes something at the service with its effect', async () => {
    const [text, skill] = [await llmsText(REGISTRY), skillPage('SKILL.md')];
    for (const group of REGISTRY) {
      for (const { path } of await commandsOf(group)) expect(text).toContain(`\`${path}\``);
    }
    const line = (says: string) => new RegExp(`^- \\*\\*${says}\\*\\*: (.*)$`, 'm').exec(skill)?.[1] ?? '';
    const says = {
      'moves-money': 'Moves money',
      'reveals-secret': 'Hands out card data',
      irreversible: 'Cannot be undone',
    };
    const commands = (await Promise.all(REGISTRY.map(commandsOf))).flat();
    for (const command of commands.filter(({ path }) => !path.startsWith('sandbox '))) {
      const effect = command.effect;
      if (effect !== 'read' && effect !== 'reversible')
        expect(line(says[effect]), command.path).toContain(`\`${command.path}\``);
    }
    for (const path of [
      'cards create',
      'cards fund',
      'cards withdraw',
      'cards lease',
      'fleet apply',
      'policy apply',
      'ops resume',
    ])
      expect(line('Moves money'), path).toContain(`\`${path}\``);
    expect(line('Hands out card data')).toContain('`cards exec`');
    expect(line('Cannot be undone')).toContain('`cards terminate`');
    expect(skill).not.toContain('`cards list`');
    expect(skill).toMatch(/^---\nname: cardwright\ndescription: .+\n---\n/);
  });
});
