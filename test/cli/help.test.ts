import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GLOBALS } from '../../src/app/globals.ts';
import { endingsOf } from '../../src/cli/docs/answers.ts';
import { ENVIRONMENT } from '../../src/cli/docs/environment.ts';
import { commandsOf } from '../../src/cli/parsing/declaration.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { ERROR_KINDS } from '../../src/core/errors.ts';
import { runWords } from './line.ts';

const commands = (await Promise.all(REGISTRY.map(commandsOf))).flat();
const TOPICS = ['options', 'environment', 'exit-codes', 'output', 'safety', 'scripting', 'scenarios'];

/** A page of help: on stdout alone, within 80 columns, without trailing blanks. */
async function page(...argv: string[]): Promise<string> {
  const { code, out, err } = await runWords(argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n').filter(line => line.length > 80)).toEqual([]);
  expect(out).not.toMatch(/[ \t]$/m);
  expect(out).toMatch(/\S\n$/);
  return out;
}

describe('help of a command', () => {
  it.each(commands.map(command => [command.path, command] as const))('%s', async (path, command) => {
    const out = await page(...path.split(' '), '--help');
    expect(out.startsWith(`${command.summary}.`) || command.summary.length > 79).toBe(true);
    for (const { name, short, placeholder } of command.flags) {
      expect(out).toContain(`  ${short === undefined ? '' : `${short}, `}${name} ${placeholder}`.trimEnd());
    }
    for (const name of command.args.map(({ key }) => key)) expect(out).toMatch(new RegExp(`[<[]${name}`));
    for (const { does } of command.examples) expect(out.replace(/\s+/g, ' ')).toContain(does.replace(/\s+/g, ' '));
    expect(out).toContain('   2  usage');
    // A code that is spoken of stands in the list, and so does everything the command tree promises.
    const list = out.slice(out.indexOf('\nExit codes\n'), out.indexOf('\nExamples\n'));
    const spoken = [...JSON.stringify(command).matchAll(/\b(?:exit|fails with) (\d+)/g)].map(([, code]) => code);
    for (const code of [...spoken, ...endingsOf(command).map(({ exit }) => exit)])
      expect(list, `${path}: ${code}`).toMatch(new RegExp(`\\b${code}\\s+[a-z]`));
    const order = ['Usage: ', '\nEffect: ', '\nJSON\n', '\nExit codes\n', '\nExamples\n'].map(part =>
      out.indexOf(part),
    );
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(order).not.toContain(-1);
    expect(out).toMatch(/\nJSON\n {2}\S/);
  });

  it('is not asked for by a value, nor after --', async () => {
    for (const words of [
      ['cards', 'list', '--', '-h'],
      ['cards', 'list', '--label', '-h', '--page', 'x'],
      ['cards', 'list', '--where=-h', '--page', 'x'],
    ]) {
      const { code, out } = await runWords(words);
      expect({ code, out }, words.join(' ')).toEqual({ code: 2, out: '' });
    }
  });
});

describe('help of groups and the root', () => {
  it.each(REGISTRY.map(({ name }) => name))('%s', async name => {
    await page(name, '--help');
  });

  it('the root names every group, every shown option, and the topics last', async () => {
    const out = await page('help');
    for (const { name } of REGISTRY.filter(({ unlisted }) => !unlisted))
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const { name } of GLOBALS.filter(({ shown }) => shown)) expect(out).toContain(`--${name}`);
    expect(out.replace(/\s+/g, ' ').trimEnd()).toMatch(new RegExp(`Topics: help ${TOPICS.join(' \\| ')}$`));
  });
});

describe('topics', () => {
  it.each(TOPICS)('%s is a page to read, in a pipe too, and rows as data', async topic => {
    const out = await page('help', topic);
    expect((await runWords(['help', topic], { stdoutTerminal: true })).out).toBe(out);
    const { data, page: facts } = JSON.parse((await runWords(['help', topic, '--json'])).out);
    expect(data.length).toBeGreaterThan(3);
    expect(facts).toEqual({ total: data.length });
    const tsv = (await runWords(['help', topic, '-o', 'tsv'])).out.split('\n').slice(0, -1);
    expect(tsv.length).toBe(data.length);
  });

  it('exit-codes holds every kind', async () => {
    const out = await page('help', 'exit-codes');
    for (const [kind, { exit }] of Object.entries(ERROR_KINDS))
      expect(out).toMatch(new RegExp(`^ *${exit}  ${kind} `, 'm'));
    expect(out).toContain('on 7 and 12');
  });

  it('environment holds every variable of ours that the code reads', () => {
    const source = join(import.meta.dirname, '..', '..', 'src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
    const text = files.map(name => readFileSync(join(source, name), 'utf8')).join('\n');
    const read = new Set(text.match(/\bCARDWRIGHT_[A-Z_]*[A-Z]\b/g));
    // Put in by the build, not read from the environment.
    for (const name of ['VERSION', 'ASSET', 'BUILD', 'PIECES']) read.delete(`CARDWRIGHT_${name}`);
    const ours = ENVIRONMENT.map(({ name }) => name).filter(name => name.startsWith('CARDWRIGHT_'));
    expect(ours.toSorted()).toEqual([...read].toSorted());
  });
});

describe('commands', () => {
  it('tells path, options, effect and exit codes of every command', async () => {
    const { data } = JSON.parse((await runWords(['commands', '--json'])).out);
    expect(data.map(({ path }: { path: string }) => path)).toEqual(commands.map(({ path }) => path));
    expect(data.find(({ path }: { path: string }) => path === 'cards list')).toMatchObject({
      operation: 'cards.list',
      effect: 'read',
      flags: expect.arrayContaining([
        {
          name: '--status',
          short: null,
          placeholder: '<active|frozen|terminated>',
          needed: false,
          repeats: false,
          choices: ['active', 'frozen', 'terminated'],
          doc: expect.any(String),
        },
      ]),
      exit_codes: expect.arrayContaining([
        { exit: 0, kind: 'done' },
        { exit: 2, kind: 'usage' },
      ]),
    });
    expect(data.find(({ path }: { path: string }) => path === 'cards freeze').args).toEqual([
      { name: 'cards', needed: true, many: true, choices: null, doc: expect.any(String) },
    ]);
  });
});
