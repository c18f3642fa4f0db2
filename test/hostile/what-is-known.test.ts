/** What a later command knows less of takes nothing away from what is known, and a person is never sent in a circle. */
import { expect, test } from 'vitest';
import { type Answered, refusal, type View } from '../support/card-books.ts';
import { arena, type Place } from './arena.ts';

interface Item {
  readonly op: string;
  readonly items: readonly Readonly<Record<string, string>>[];
}

async function shown(place: Place): Promise<Item> {
  const [newest] = JSON.parse((await place.run('ops list --json')).out).data as { op: string }[];
  return JSON.parse((await place.run(`ops show ${newest?.op} --json`)).out) as Item;
}

test('a look that could read nothing leaves what an earlier one has seen', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [{}] });
  here.service.script({ operation: 'fund', plays: [{ effect: 'none', answer: { lost: 'before-headers' } }] });
  expect((await place.run('cards fund card_1 --amount 25')).code).toBe(11);
  const { op, items } = await shown(place);
  expect(items[0]?.['found']).toContain('card card_1 $');
  here.service.reset({});
  expect((await place.run(`ops resume ${op}`)).code).toBe(11);
  expect((await shown(place)).items[0]?.['found']).toBe(items[0]?.['found']);
});

test('silence takes no reason away that the service has given', async () => {
  await using here = await arena();
  await using place = await here.enter('honoured', 'test', { cards: [{}] });
  const [said, silence] = [refusal(500, 'ledger_down'), { lost: 'before-headers' }] as const;
  const plays = [said, silence, silence].map(answer => ({ effect: 'none', answer }) as const);
  here.service.script({ operation: 'fund', plays });
  expect((await place.run('cards fund card_1 --amount 25')).code).toBe(11);
  expect(here.service.requests.filter(({ operation }) => operation === 'fund').length).toBe(3);
  expect((await shown(place)).items[0]?.['reason']).toContain('ledger_down');
});

test('a resume that can find out nothing more leads on to what is known', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', {});
  let made: Answered | undefined;
  const answer = ({ honest }: View) => {
    made ??= honest;
    return made;
  };
  here.service.script({
    operation: 'create',
    plays: [
      { effect: 'done', answer },
      { effect: 'none', answer },
    ],
  });
  const line = 'cards create --bin bin_1 --amount 25 --no-marker';
  expect([(await place.run(line)).code, (await place.run(line)).code]).toEqual([0, 11]);
  const { op } = await shown(place);
  const resumed = await place.run(`ops resume ${op}`);
  expect(resumed.code).toBe(11);
  expect(JSON.parse(resumed.err).error.hint).toBe(`cardwright ops show ${op}`);
});
