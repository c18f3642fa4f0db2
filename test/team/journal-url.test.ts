/** Addresses of a shared journal: what is taken, what is refused, and that none of it is repeated. */
import { expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { parseJournalUrl, type UrlSource } from '../../src/team/journal-url.ts';

const parse = (text: string, source: UrlSource = 'environment') => parseJournalUrl(text, source);

it.each([
  ['postgres://ana@db.example.com/journal', { host: 'db.example.com', port: 5432, tls: {} }],
  ['postgresql://ana@db.example.com:6432/journal?sslmode=verify-full', { port: 6432, tls: {} }],
  [
    'postgres://ana@db.example.com/journal?sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=%2Fk.pem',
    { tls: { ca: '/ca.pem', cert: '/c.pem', key: '/k.pem' } },
  ],
  ['postgres://ana@%2Frun%2Fpostgresql/journal', { host: '/run/postgresql', tls: undefined }],
  ['postgres://ana@127.0.0.1:5433/journal', { host: '127.0.0.1', tls: undefined }],
  ['postgres://ana@[::1]/journal?sslmode=disable', { host: '::1', tls: undefined }],
  ['postgres://ana@localhost/journal?sslrootcert=/ca.pem', { host: 'localhost', tls: { ca: '/ca.pem' } }],
  ['postgres://ci%40billing@db.example.com/journal', { role: 'ci@billing' }],
])('takes %s', (text, parts) => {
  expect(parse(text)).toMatchObject({ database: 'journal', ...parts });
});

it.each([
  ['mysql://ana@db/journal', 'usage'],
  ['postgres://db/journal', 'usage'],
  ['postgres://ana@db', 'usage'],
  ['postgres://ana@/journal', 'usage'],
  ['postgres://ana@db1,db2/journal', 'usage'],
  ['postgres://ana@db:0/journal', 'usage'],
  ['postgres://ana@db:99999/journal', 'usage'],
  ['postgres://ana@db/journal#part', 'usage'],
  ['postgres://ana@db/journal?host=elsewhere', 'usage'],
  ['postgres://ana@db/journal?options=-cfsync%3Doff', 'usage'],
  ['postgres://ana@db/journal?sslmode=verify-full&sslmode=disable', 'usage'],
  ['postgres://ana@db/journal?sslrootcert=ca.pem', 'usage'],
  ['postgres://ana@db/journal?sslcert=/c.pem', 'usage'],
  ['postgres://ana@localhost/journal?sslmode=disable&sslrootcert=/ca.pem', 'usage'],
  ['postgres://ana@%2Frun/journal?sslmode=verify-full', 'usage'],
  ['postgres://ana@db%00/journal', 'usage'],
  ['postgres://ana@db%zz/journal', 'usage'],
  ['postgres://añá@db/journal', 'usage'],
  ...['disable', 'allow', 'prefer', 'require', 'verify-ca', ''].map(mode => [
    `postgres://ana@db/journal?sslmode=${mode}`,
    'guarded',
  ]),
  ['postgres://ana@localhost/journal?sslmode=require', 'guarded'],
])('refuses %s', (text, kind) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ kind }));
});

it('takes a password from everywhere but the command line, and shows it nowhere', () => {
  const text = 'postgres://ana:a%2Fs3cret@db.example.com/journal';
  const url = parse(text);
  expect(url.password?.expose()).toBe('a/s3cret');
  expect(JSON.stringify(url)).not.toContain('s3cret');
  expect(url.shown).toBe('postgres://ana@db.example.com:5432/journal');
  for (const wrong of [() => parse(text, 'flag'), () => parse(`${text}?x=y`), () => parse(`${text} `)]) {
    let thrown: unknown;
    try {
      wrong();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CliError);
    expect(JSON.stringify((thrown as CliError).facts)).not.toContain('s3cret');
  }
});
