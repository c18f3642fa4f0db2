/** A card number that is typed for something else, and one that a service writes into a text: neither is repeated. */
import { afterAll, describe, expect, it } from 'vitest';
import { scriptedWorld } from '../support/scripted-world.ts';

const NUMBER = '4000009471306822';
const digits = (text: string) => text.normalize('NFKC').replace(/\D/g, '');
const grouped = (by: string) => NUMBER.replace(/(\d{4})(?=\d)/g, `$1${by}`);

const place = await scriptedWorld();
afterAll(() => place[Symbol.asyncDispose]());

describe('typed', () => {
  it.each([
    NUMBER,
    `cards ${NUMBER}`,
    `help ${NUMBER}`,
    `help cards ${NUMBER}`,
    `cards get ${NUMBER}`,
    `cards get card_1 ${NUMBER}`,
    `cards get card_old ${NUMBER} --json`,
    `cards list -o ${NUMBER}`,
    `cards list --fields ${NUMBER}`,
    `cards list --sort ${NUMBER}`,
    `cards list --where ${NUMBER}`,
    `cards list --limit ${NUMBER}`,
    `cards list --${NUMBER}`,
    `cards create --bin bin_1 --amount ${NUMBER}`,
    `cards create --bin bin_1 --amount=${grouped('-')}`,
    `cards create --bin ${NUMBER} --amount 5`,
    `cards fund card_old --amount ${grouped(' ')}`,
    `cards freeze --file ${NUMBER}`,
    `cards lease --amount 5 --ttl ${NUMBER} -- true`,
    `tx list --since ${NUMBER}`,
    `tx list --card ${NUMBER}`,
    `ops show ${NUMBER}`,
    `explain ${NUMBER}`,
    `schema ${NUMBER}`,
    `completion ${NUMBER}`,
    `contract show ${NUMBER}`,
    `sandbox start --port ${NUMBER}`,
    `profiles use ${NUMBER}`,
    `profiles use x${NUMBER}`,
    `fleet plan ${NUMBER}.yaml`,
    `policy check ${NUMBER}.yaml`,
    `books export --format ${NUMBER}`,
    `books statement --period ${NUMBER}`,
    `--profile ${NUMBER} cards list`,
    `--timeout ${NUMBER} cards list`,
  ])('%s', async line => {
    const { code, all } = await place.here.run(line, { onPause: () => undefined });
    expect({ code, shown: digits(all).includes(NUMBER) }).toEqual({ code: expect.any(Number), shown: false });
    expect(code).not.toBe(0);
  });
});

describe('in a label', () => {
  it.each([',', ', ', ':', '*', ' - ', '\t', '\n', '|', ';'])('parted by %j', async by => {
    place.service.shown = card => ({ ...card, label: `my ${grouped(by)}` });
    for (const line of [
      'cards list',
      'cards list --json',
      'cards list -o csv',
      'cards get card_old',
      'cards get card_old --json --debug',
    ]) {
      const { code, all } = await place.here.run(line, { onPause: () => undefined });
      expect({ line, code, shown: digits(all.replace(/\\[nt]/g, '')).includes(NUMBER) }).toEqual({
        line,
        code: 0,
        shown: false,
      });
    }
    place.service.shown = card => card;
  });
});

it.each(['the cvv 123 is wrong', 'CVC: 123', 'security code is 123', 'bad cvv2=123'])(
  'in the words of a refusal: %s',
  async words => {
    place.service.script = () => ({ status: 400, body: { error: 'bad_request', message: words, code: 400 } });
    for (const flags of ['', ' --json', ' --debug']) {
      const { code, all } = await place.here.run(`cards freeze card_old${flags}`, { onPause: () => undefined });
      expect(code).not.toBe(0);
      expect(all).toContain('[redacted]');
      expect(all).not.toMatch(/\b123\b/);
    }
  },
);
