import { describe, expect, it } from 'vitest';
import { GLOBALS, readGlobals } from '../../src/app/globals.ts';
import { ENVIRONMENT } from '../../src/cli/docs/environment.ts';

const OURS = ENVIRONMENT.map(({ name }) => name).filter(name => name.startsWith('CARDWRIGHT_'));

describe('readGlobals', () => {
  it('lets an option win over its variable', () => {
    const env = { CARDWRIGHT_OUTPUT: 'ndjson', CARDWRIGHT_LIVE: 'prod', CARDWRIGHT_CONTRACT: 'a.json' };
    expect(readGlobals({}, env)).toMatchObject({ format: 'ndjson', machine: true, live: 'prod', contract: 'a.json' });
    expect(readGlobals({ output: 'csv', live: 'team' }, env)).toMatchObject({ format: 'csv', live: 'team' });
    expect(readGlobals({ json: true }, env)).toMatchObject({ format: 'json', machine: true, byName: false });
    expect(readGlobals({ json: true, output: 'json' }, env)).toMatchObject({ format: 'json' });
    expect(() => readGlobals({ json: true, output: 'csv' }, env)).toThrow(/--json and -o csv/);
  });

  it.each(OURS)('refuses %s where it is set and empty, also beside the option', name => {
    for (const typed of [{}, { sandbox: true, profile: 'work', output: 'json', live: 'work', contract: 'a.json' }]) {
      expect(() => readGlobals(typed, { [name]: '', PATH: '/bin' })).toThrow(`${name} is set and empty`);
    }
    expect(readGlobals({}, { [name]: undefined })).toMatchObject({ format: 'table' });
  });

  it('takes any other empty variable for one that is not set', () => {
    const others = ENVIRONMENT.map(({ name }) => name).filter(name => !OURS.includes(name));
    expect(readGlobals({}, Object.fromEntries(others.map(name => [name, ''])))).toEqual(readGlobals({}, {}));
  });

  const withValue = GLOBALS.filter(({ name, value }) => value && name !== 'profile');

  it.each(withValue.map(({ name }) => name))('refuses --%s that is empty', name => {
    for (const blank of ['', ' ']) {
      expect(() => readGlobals({ [name]: blank }, {})).toThrow(`--${name} ${JSON.stringify(blank)} must not be empty`);
    }
  });

  it.each(['fields', 'columns'])('refuses --%s with a name left out', name => {
    for (const list of [',', ', ,', 'id,', ',id', 'id,,balance']) {
      expect(() => readGlobals({ [name]: list }, {})).toThrow('a name is missing before or after a comma');
    }
    expect(readGlobals({ [name]: ' id , balance' }, {})).toMatchObject({ [name]: ['id', 'balance'] });
  });
  it('refuses a format, a colour and a duration it does not know, naming the choices', () => {
    expect(() => readGlobals({ output: 'xml' }, {})).toThrow('"xml" is not one of table, wide, json');
    expect(() => readGlobals({}, { CARDWRIGHT_OUTPUT: 'xml' })).toThrow('"xml" is not one of');
    expect(() => readGlobals({ color: 'red' }, {})).toThrow('always, auto, never');
    expect(() => readGlobals({ timeout: '30' }, {})).toThrow('--timeout "30" is not a duration');
  });
});
