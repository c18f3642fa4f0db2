/** The id of a card that was there before, in an answer that says everything else as it was asked for. */
import { expect, test } from 'vitest';
import { answerNamed } from './answers.ts';
import { arena } from './arena.ts';

const FORGED = answerNamed('201 old card that says it is new, none').play;

test('the end of a run calls its row unknown, and that of no honest card, whatever the lists show', async () => {
  await using here = await arena();
  for (const metadata of ['everywhere', 'not-in-lists'] as const) {
    await using place = await here.enter('unknown', 'test', { cards: [{}], metadata });
    here.service.script({ operation: 'create', where: ({ body }) => body['label'] === metadata, plays: [FORGED] });
    const given = `bin_id,amount,label\nbin_1,25,one ${metadata}\nbin_1,25,${metadata}\n`;
    const { code, err } = await place.run('cards create --file -', given);
    expect([metadata, code]).toEqual([metadata, 11]);
    expect(err).toMatch(/card card_1 (?:does not carry the marker of this run|is older than this operation)/);
    expect(err).not.toContain('row 1');
    // Asked again it says the same: what was not proved is not proved by the end of the run.
    const op = /"op":"(op_\w+)"/.exec(err)?.[1] ?? '';
    for (const line of [`ops resume ${op}`, `ops resume ${op} --dry-run`]) {
      const resumed = await place.run(line);
      expect([line, resumed.code, /row 1\D/.test(resumed.err)]).toEqual([line, 11, false]);
    }
  }
  for (const metadata of ['everywhere', 'not-in-lists', 'nowhere'] as const) {
    await using fresh = await here.enter('unknown', 'test', { cards: [{}], metadata });
    const rows = `bin_id,amount,label\nbin_1,25,one\nbin_1,25,two\n`;
    const { code, err } = await fresh.run('cards create --file -', rows);
    expect([metadata, code, err.includes('does not carry')]).toEqual([metadata, 0, false]);
  }
});
