/** What people read where a dialect says less; `commands.full.ts` compares every command, `transcripts.test.ts` whole stories. */
import { describe, expect, it } from 'vitest';
import { world } from '../support/world.ts';

describe('what people read', () => {
  it('a page that may not be the last says so', async () => {
    await using here = await world({ dialect: 'minimal', data: 'demo', terminal: 80 });
    expect((await here.run('cards list --per-page 5')).all).toContain('5 cards on this page.   All pages: --all');
    await using more = await world({ dialect: 'envelope-more', data: 'demo', terminal: 80 });
    expect((await more.run('cards list --per-page 5')).all).toContain('5 cards.   All pages: --all');
  });

  it('a transfer names its amount, whatever the answer leaves out', async () => {
    for (const dialect of ['minimal', 'names-stripe']) {
      await using here = await world({ dialect, terminal: 80 });
      await here.run('cards create --bin bin_1 --amount 20 -q');
      expect((await here.run('cards withdraw card_1 --amount 5.50')).all).toContain('Withdrew from card_1: $5.50.');
      expect((await here.run('cards fund card_1 --amount 5')).all).toContain('Funded card_1: $5.00.');
    }
  });

  it('a secret that was made and not shown is no secret one chose', async () => {
    await using here = await world({ dialect: 'minimal', terminal: 80 });
    const { all } = await here.run('webhooks create --url https://example.com/a --event *');
    expect(all).toContain('not shown by the service');
    expect(all).toContain('--secret-file');
  });
});
