/**
 * The names and types in answers are a promise (docs/design/cli.md, "Promised JSON"). `promised.txt` holds every field
 * ever promised: one that is gone, or of another type, fails here. New ones are added with `UPDATE=1`; nothing takes a
 * line away but a person who means to break the promise.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answersOf } from '../../src/cli/docs/answers.ts';
import { world } from '../support/world.ts';
import { commands, judgeOf, objections, promises } from './schema.ts';

const FILE = join(import.meta.dirname, 'promised.txt');
const promised = readFileSync(FILE, 'utf8').split('\n').filter(Boolean);

describe('answers', () => {
  it('of every command are described', () => {
    expect(commands.filter(command => answersOf(command).length === 0).map(({ path }) => path)).toEqual([]);
  });

  it('hold every field that was ever promised, with its type', () => {
    const now = new Set(promises());
    expect(promised.filter(line => !now.has(line))).toEqual([]);
  });

  it('promise nothing that is not written down', () => {
    const missing = promises().filter(line => !promised.includes(line));
    if (process.env['UPDATE'] === '1' && missing.length > 0) {
      writeFileSync(FILE, `${[...promised, ...missing].sort().join('\n')}\n`);
      return;
    }
    const next = 'write them down: UPDATE=1 npx vitest run test/answers/promises.test.ts';
    expect(missing, next).toEqual([]);
  });
});

describe('schema', () => {
  it('of every command, and of an error, is a schema', () => {
    for (const path of [...commands.map(({ path }) => path), 'error'])
      expect({ path, kind: typeof judgeOf(path) }).toEqual({ path, kind: 'function' });
  });

  it('prints the one of a command, of an error, and all of them', async () => {
    await using here = await world();
    const one = JSON.parse((await here.run('schema cards list')).out);
    expect(one).toMatchObject({ title: 'cardwright cards list', properties: { data: { type: 'array' } } });
    expect((await here.run('schema cards list --json')).out).toBe((await here.run('schema cards list')).out);
    expect((await here.run("schema cards list --jq '.properties.data.items.properties | keys[0]'")).out).toBe(
      'allowed_categories\n',
    );
    const all = JSON.parse((await here.run('schema')).out);
    expect(Object.keys(all.$defs)).toEqual([...commands.map(({ path }) => path), 'error']);
    expect(all.$defs.error).toMatchObject(
      JSON.parse((await here.run('schema error')).out).properties ? {} : { type: 1 },
    );
  });

  it('names the nearest command for a mistyped one', async () => {
    await using here = await world();
    const { code, err } = await here.run('schema cards lsit');
    expect({ code, err }).toEqual({
      code: 2,
      err: 'error: there is no command "cards lsit". Did you mean "cards list"?\n  try: cardwright commands\n',
    });
  });
});

describe('a dry run', () => {
  it('answers with one request or with several, as is promised', async () => {
    await using here = await world({ wallet: 500 });
    const rule = '{ name: rich, when: { balance: "> 100" }, then: freeze, severity: info }';
    await writeFile(join(here.folder, 'policy.yaml'), `version: 1\nrules: [${rule}]\n`);
    for (const ids of ['card_1', 'card_1 card_2']) {
      expect((await here.run('cards create --bin bin_1 --amount 200')).code).toBe(0);
      await writeFile(join(here.folder, 'cards.csv'), `card_id\n${ids.replace(' ', '\n')}\n`);
      for (const [path, words] of [
        ['policy apply', 'policy.yaml --max-share 100%'],
        ['cards freeze', '--file cards.csv'],
        ['cards freeze', ids],
      ] as const) {
        const line = `${path} ${words} --dry-run --json`;
        const { code, out, err } = await here.run(line);
        expect({ line, code }, err).toEqual({ line, code: 0 });
        const answer = JSON.parse(out);
        expect({ line, isList: 'data' in answer }).toEqual({ line, isList: words !== 'card_1' });
        expect({ line, objections: objections(path, answer) }).toEqual({ line, objections: [] });
      }
    }
  });
});

describe('the judge', () => {
  it('objects to a wrong type, a missing field and an untold one', () => {
    const card = { id: 'card_1', bin_id: 'bin_1', last4: '4242', status: 'active', balance: 5 };
    expect(objections('wait card', card)).toEqual([]);
    expect(objections('wait card', { ...card, status: 'a word of the service we do not know', label: null })).toEqual(
      [],
    );
    expect(objections('wait card', { ...card, balance: '5' })).toEqual(['/balance must be number']);
    expect(objections('wait card', { ...card, id: undefined })).toEqual(
      ["must have required property 'id'"].map(text => ` ${text}`),
    );
    expect(objections('wait card', { ...card, surprise: 1 })).toEqual(['.surprise is told nowhere']);
  });
});
