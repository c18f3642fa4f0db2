/** The id of a card that was there before, in an answer that says everything else as it was asked for. */
import { expect, test } from 'vitest';
import type { Answered, View } from '../support/hostile-service.ts';
import { answerNamed } from './answers.ts';
import { arena } from './arena.ts';

const FORGED = answerNamed('201 old card that says it is new, none').play;

/** Twenty cards are read where a list says nothing; one that says something wrong is believed of none. */
test('thirty rows, each answered with an old card of its own: the end objects to each of them', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test');
  const many = Array.from({ length: 30 }, (_, at) => at);
  here.service.reset({ [place.key]: { cards: many.map(() => ({})) } });
  const plays = many.map(at => ({ effect: 'none', answer: (view: View) => forged(view, `card_${at + 1}`) }) as const);
  here.service.script({ operation: 'create', plays });
  const rows = many.map(at => `bin_1,25,row ${at}`).join('\n');
  const { code, err } = await place.run('cards create --file -', `bin_id,amount,label\n${rows}\n`);
  const rowsNamed = new Set(err.match(/row \d+: card card_\d+ does not carry/g));
  expect([code, rowsNamed.size]).toEqual([15, 30]);
});

function forged(view: View, id: string): Answered {
  const play = FORGED.answer as (view: View) => Answered;
  const { status, body } = play(view);
  return { status, body: { ...(body as object), id } };
}

test('the end of a run objects to it, and to no honest card, whatever the lists show', async () => {
  await using here = await arena();
  for (const metadata of ['everywhere', 'not-in-lists'] as const) {
    await using place = await here.enter('unknown', 'test');
    here.service.reset({ [place.key]: { cards: [{}], metadata } });
    here.service.script({ operation: 'create', where: ({ body }) => body['label'] === metadata, plays: [FORGED] });
    const given = `bin_id,amount,label\nbin_1,25,one ${metadata}\nbin_1,25,${metadata}\n`;
    const { code, err } = await place.run('cards create --file -', given);
    expect([metadata, code]).toEqual([metadata, 15]);
    expect(err).toContain('row 2: card card_1 does not carry the marker of this run');
    expect(err).not.toContain('row 1:');
    // Asked again it says the same: what was not proved is not proved by the end of the run.
    const op = /"op":"(op_\w+)"/.exec(err)?.[1] ?? '';
    for (const line of [`ops resume ${op}`, `ops resume ${op} --dry-run`]) {
      const resumed = await place.run(line);
      expect([line, resumed.code, resumed.err.includes('row 2: card card_1 does not carry')]).toEqual([line, 15, true]);
    }
  }
  for (const metadata of ['everywhere', 'not-in-lists', 'nowhere'] as const) {
    await using fresh = await here.enter('unknown', 'test');
    here.service.reset({ [fresh.key]: { cards: [{}], metadata } });
    const rows = `bin_id,amount,label\nbin_1,25,one\nbin_1,25,two\n`;
    const { code, err } = await fresh.run('cards create --file -', rows);
    expect([metadata, code, err.includes('does not carry')]).toEqual([metadata, 0, false]);
  }
});
