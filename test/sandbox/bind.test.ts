import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bound, placeholders, plainRow } from '../../src/engine/bind.ts';
import { connectTo } from '../../src/engine/open.ts';
import type { Rows, SqlValue } from '../../src/sandbox/store/sql.ts';
import { Statements } from '../../src/sandbox/store/sqlite/statements.ts';
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

describe('what is gathered and written later', () => {
  /** Statements that count what is written to the tables of a small store. */
  function gathering() {
    const connection = connectTo('memory');
    connection.exec('create table sums (account_id text primary key, entries integer not null, rest integer) strict');
    connection.exec("insert into sums values ('a', 1, 5)");
    connection.exec(
      'create table kept (account_id text, name text, value integer, primary key (account_id, name)) strict',
    );
    connection.exec('create table entries (account_id text, n integer) strict');
    connection.exec('begin');
    const statements = new Statements(connection);
    const { sql } = statements.open('write');
    const count = (text: string) => Number((connection.prepare(text).get() as { n: number }).n);
    return { connection, statements, sql, count };
  }
  const SUMS: Rows<{ readonly entries: number; readonly rest: number | null }> = {
    table: 'sums',
    key: ['account_id'],
    columns: 'entries, rest',
  };
  const KEPT = { table: 'kept', columns: ['account_id', 'name', 'value'], keys: 2 };
  const NAMED: Rows<{ readonly value: number }> = { table: 'kept', key: ['account_id', 'name'], columns: 'value' };

  it('writes a row once for all its changes, and before anybody reads its table', async () => {
    const { sql, count, statements } = gathering();
    for (const entries of [2, 3, 4]) {
      expect(await sql.change(SUMS, { entries, rest: -entries }, 'a')).toEqual({ entries, rest: -entries });
    }
    expect(await sql.row(SUMS, 'a')).toEqual({ entries: 4, rest: -4 });
    expect(count('select entries as n from sums')).toBe(1);
    expect(await sql.get('select entries, rest from sums where account_id = ?', 'a')).toEqual({ entries: 4, rest: -4 });
    expect([await sql.row(SUMS, 'b'), await sql.change(SUMS, { rest: 1 }, 'b')]).toEqual([undefined, undefined]);
    await sql.change(SUMS, { entries: 5 }, 'a');
    statements.flush();
    expect([count('select entries as n from sums'), count('select rest as n from sums')]).toEqual([5, -4]);
  });

  it('reads the row again after something else wrote its table, or it was undone', async () => {
    const { sql, statements } = gathering();
    expect(await sql.row(SUMS, 'a')).toEqual({ entries: 1, rest: 5 });
    await sql.change(SUMS, { rest: 6 }, 'a');
    await sql.run('update sums set entries = 7 where account_id = ?', 'a');
    expect(await sql.row(SUMS, 'a')).toEqual({ entries: 7, rest: 6 });
    await sql.change(SUMS, { entries: 8 }, 'a');
    statements.undone();
    expect(await sql.row(SUMS, 'a')).toEqual({ entries: 7, rest: 6 });
  });

  it('finds a row by its key whether it is written or waits, and lets the others wait', async () => {
    const { sql, count } = gathering();
    expect(await sql.row(NAMED, 'a', 'one')).toBeUndefined();
    await sql.append(KEPT, 'a', 'one', 1);
    expect(await sql.row(NAMED, 'a', 'two')).toBeUndefined();
    expect(count('select count(*) as n from kept')).toBe(0);
    expect(await sql.row(NAMED, 'a', 'one')).toEqual({ value: 1 });
    expect(count('select count(*) as n from kept')).toBe(1);
  });

  it('does not take the columns of an update for tables: rows go on waiting', async () => {
    const { sql, count } = gathering();
    await sql.append({ table: 'entries', columns: ['account_id', 'n'] }, 'a', 1);
    await sql.run('update sums set entries = entries + 1, rest = 0 where account_id = ?', 'a');
    expect(count('select count(*) as n from entries')).toBe(0);
    await sql.get('select n from entries e, sums s where s.account_id = e.account_id');
    expect(count('select count(*) as n from entries')).toBe(1);
  });

  it('refuses a sum that is not whole, and writes nothing in a reading transaction', async () => {
    const { sql, statements, count } = gathering();
    await expect(sql.change(SUMS, { entries: 0.5, rest: 0 }, 'a')).rejects.toThrow(TypeError);
    statements.flush();
    expect(count('select rest as n from sums')).toBe(5);
    const { sql: reading } = statements.open('read');
    await expect(reading.change(SUMS, { entries: 1 }, 'a')).rejects.toThrow('cannot write');
  });
});
