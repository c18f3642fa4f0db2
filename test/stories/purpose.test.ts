/** What a purchase is for: kept with it, and read by whoever approves it. */
import { expect, test } from 'vitest';
import { errorOf, world } from '../support/world.ts';

test('words of several lines are refused before anything is sent', async () => {
  await using here = await world();
  expect((await here.run('cards create --bin auto --amount 5 --purpose "two\nlines"')).code).toBe(2);
});

test('the person who approves reads it, ops show keeps it, and other words are the same change', async () => {
  await using here = await world({ served: true, env: { CARDWRIGHT_PROFILE: 'team' } });
  const login = `login --profile team --base-url ${here.sandbox.url} --key-stdin`;
  await here.run(login, { stdin: here.sandbox.key.expose(), env: { CARDWRIGHT_PROFILE: '' } });
  const typed = (...words: string[]) => ({ terminal: 100, typed: words });
  await here.run('profiles set team approve_above 20');
  await here.run('ops keys create', typed('correct horse', 'correct horse'));
  const create = `cards create --bin auto --amount 25 --intent chairs --json --purpose`;
  const held = await here.run(`${create} "office chairs"`);
  expect(held.code).toBe(17);
  const { op, approval } = errorOf(held);
  expect(approval.render).toContainEqual(['For', 'office chairs']);
  const approved = await here.run(`ops approve ${op}`, typed('25.00', 'correct horse'));
  expect(approved.all).toContain('office chairs');
  const sent = await here.run(`${create} "chairs for the office"`);
  expect(sent.code).toBe(0);
  const { items } = JSON.parse((await here.run(`ops show ${op} --json`)).out);
  expect(items).toMatchObject([{ outcome: 'done', intent: 'chairs', purpose: 'office chairs' }]);
});
