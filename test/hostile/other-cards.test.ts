/** The id of a card that was there before, in an answer that says everything else as it was asked for. */
import { expect, test } from 'vitest';
import { answerNamed } from './answers.ts';
import { arena } from './arena.ts';

const FORGED = answerNamed('201 old card that says it is new, none').play;

test('the end of a run objects to it, and to no honest card, whatever the lists show', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test');
  const create = (label: string) =>
    place.run('cards create --file -', `bin_id,amount,label\nbin_1,25,one ${label}\nbin_1,25,${label}\n`);
  for (const metadata of ['everywhere', 'not-in-lists'] as const) {
    here.service.reset({ [place.key]: { cards: [{}], metadata } });
    here.service.script({ operation: 'create', where: ({ body }) => body['label'] === metadata, plays: [FORGED] });
    const { code, err } = await create(metadata);
    expect([metadata, code]).toEqual([metadata, 15]);
    expect(err).toContain('row 2: card card_1 does not carry the marker of this run');
    expect(err).not.toContain('row 1:');
  }
  for (const metadata of ['everywhere', 'not-in-lists', 'nowhere'] as const) {
    here.service.reset({ [place.key]: { cards: [{}], metadata } });
    const { code, err } = await create(`honest ${metadata}`);
    expect([metadata, code, err.includes('does not carry')]).toEqual([metadata, 0, false]);
  }
});
