import { describe, expect, it } from 'vitest';
import { meaningsOf } from '../../src/commands/explain.ts';
import { REFUSALS, type Refusal } from '../../src/contract/refusals.ts';
import { ERROR_KINDS, type ErrorKind } from '../../src/core/errors.ts';
import { world } from '../support/world.ts';

describe('explain', () => {
  it.each(Object.keys(ERROR_KINDS) as ErrorKind[])('knows the kind %s and its exit code', kind => {
    const { exit, means } = ERROR_KINDS[kind];
    expect(meaningsOf(kind)[0]).toMatchObject({ is: 'error kind', exit, kind, means });
    expect(meaningsOf(String(exit)).map(each => each.kind)).toContain(kind);
  });

  it.each(Object.entries(REFUSALS) as [string, Refusal][])(
    'knows the identifier %s and its other spellings',
    (name, row) => {
      for (const word of [name, ...(row.also ?? [])]) {
        const found = meaningsOf(word).find(({ is }) => is === 'identifier of the service');
        expect(found, word).toMatchObject({ kind: row.kind, identifiers: [name], exit: ERROR_KINDS[row.kind].exit });
      }
    },
  );

  it('knows 0, and nothing of other words', () => {
    expect(meaningsOf('0')).toMatchObject([{ kind: 'done', exit: 0 }]);
    for (const word of ['', '99', '-1', '1e1', 'constructor', '__proto__', '٣'])
      expect(meaningsOf(word), word).toEqual([]);
  });

  it('finds an operation by its id and by the request that carried it', async () => {
    await using here = await world();
    await here.run('cards create --bin bin_1 --amount 5');
    await here.run('cards create --bin bin_1 --amount 6');
    const ops = (await here.run('ops list -o id')).out.trimEnd().split('\n');
    expect(ops).toHaveLength(2);
    for (const op of ops) {
      const request = (await here.run(`explain ${op} --jq '.items[0].request_id'`)).out.trim();
      expect(request).toMatch(/^req_/);
      expect((await here.run(`explain ${request} --jq .op`)).out).toBe(`${op}\n`);
    }
  });
});
