import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bound, placeholders, plainRow } from '../../src/engine/connection.ts';
import { connectTo } from '../../src/engine/open.ts';
import { Statements } from '../../src/sandbox/store/queue.ts';
import type { SqlValue } from '../../src/sandbox/store/sql.ts';
import { codePoint } from '../support/code-point.ts';

/** Statements on a memory database, inside a transaction. */
function openSql(access: 'read' | 'write' = 'write') {
  const connection = connectTo('memory');
  connection.exec('create table t (a integer, b text) strict');
  connection.exec('begin');
  return { connection, ...new Statements(connection).open(access) };
}

it.each([
  ['a flag', true],
  ['nothing', undefined],
  ['not a number', Number.NaN],
  ['a fraction', 0.5],
  ['a number too large to be exact', 2 ** 53],
  ['an object', {}],
  ['a date', new Date(0)],
  ['a list', [1]],
  ['text with NUL', 'a\0b'],
  ['text with half a character', 'a\ud800'],
])('refuses to bind %s', (_name, value) => {
  expect(() => bound(value as SqlValue)).toThrow(TypeError);
});

it('binds whole numbers as integers, so that division is integer division', async () => {
  const { sql } = openSql();
  expect(await sql.get('select ? / 2 as half', 7)).toEqual({ half: 3 });
  expect(await sql.get('select ? / 2 as half', 2 ** 40 + 1)).toEqual({ half: 2 ** 39 });
});

it('reads back every text and every safe integer as it was written', async () => {
  const { sql } = openSql();
  const text = fc.string({ unit: codePoint }).filter(value => !value.includes('\0'));
  const values = fc.record({ a: fc.maxSafeInteger(), b: text });
  await fc.assert(
    fc.asyncProperty(values, async ({ a, b }) => {
      await sql.run('delete from t');
      await sql.run('insert into t (a, b) values (?, ?)', a, b);
      expect(await sql.get('select a, b from t')).toEqual({ a: Object.is(a, -0) ? 0 : a, b });
    }),
  );
});

it('counts the values, because a missing one would become null', async () => {
  const { sql } = openSql();
  await expect(sql.run('insert into t (a, b) values (?, ?)', 1)).rejects.toThrow('asks for 2 values and got 1');
  await expect(sql.get(`select '?' as mark where 1 = ?`)).rejects.toThrow('asks for 1 values and got 0');
  expect(placeholders(`select '?', 'it''s ?' where a = ? and b = ?`)).toBe(2);
});

it('gives ordinary objects, though rows of the engine have no prototype', async () => {
  const { sql } = openSql();
  const row = await sql.get('select 1 as one');
  expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
  expect(() => plainRow({ one: 1.5 })).toThrow('not a whole number');
});

it('lets a reading transaction write nothing', async () => {
  const { sql } = openSql('read');
  await expect(sql.run('insert into t (a) values (1)')).rejects.toThrow('cannot write');
  await expect(sql.get('insert into t (a) values (1) returning a')).rejects.toThrow('cannot write');
});

it('refuses a statement after its transaction, which would commit on its own', async () => {
  const { sql, end, connection } = openSql();
  connection.exec('rollback');
  await expect(sql.run('insert into t (a) values (1)')).rejects.toThrow('is over');
  connection.exec('begin');
  end();
  await expect(sql.run('insert into t (a) values (1)')).rejects.toThrow('is over');
});

it('adds and changes rows by the names of their columns, and numbers them', async () => {
  const { sql, connection } = openSql();
  connection.exec('create table kept (number integer primary key, name text unique, value integer) strict');
  expect(await sql.insert('kept', { name: 'x', value: 4 })).toBe(1);
  expect(await sql.insert('kept', { value: 6, name: 'y' })).toBe(2);
  expect(await sql.update('kept', { name: 'x' }, { value: 5 })).toBe(1);
  expect(await sql.update('kept', { name: 'z' }, { value: 5 })).toBe(0);
  expect(await sql.all('select * from kept order by number')).toEqual([
    { number: 1, name: 'x', value: 5 },
    { number: 2, name: 'y', value: 6 },
  ]);
});
