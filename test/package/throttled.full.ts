/** A limit that meets every worker of the built program at once: all wait, and nothing but the run is spoken of. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { json, serve } from '../client/served.ts';
import { ended, home } from './built.ts';

test('64 workers that are told to wait together do not make Node speak of a leak', async () => {
  await using place = await home();
  let creates = 0;
  const cards: object[] = [];
  const service = await serve((seen, response) => {
    if (seen.method === 'GET') {
      if (seen.url.includes('/wallet')) return json(response, 200, { balance: 1000, currency: 'USD' });
      const listed = seen.url.includes('/cards') ? cards : [{ id: 'bin_1', network: 'visa' }];
      return json(response, 200, { data: listed, page: { total: listed.length } });
    }
    creates += 1;
    if (creates > 40 && creates < 110) return void response.writeHead(429, { 'retry-after': '1' }).end();
    const card = {
      id: `card_${creates}`,
      bin_id: 'bin_1',
      network: 'visa',
      last4: '4242',
      status: 'active',
      balance: 1,
    };
    cards.push({ ...card, metadata: JSON.parse(seen.body).metadata });
    json(response, 201, cards.at(-1));
  });
  try {
    const file = join(place.folder, 'rows.csv');
    await writeFile(file, `bin_id,amount\n${'bin_1,1\n'.repeat(150)}`);
    const words = ['cards', 'create', '--file', file, '--yes', '--concurrency', '64', '-o', 'csv'];
    const { err, out } = await ended(place.start(words, { baseUrl: service.baseUrl }));
    expect(err).not.toContain('MaxListeners');
    expect(out.split('\n').length).toBe(152);
    expect(creates).toBeGreaterThan(110);
  } finally {
    await service.close();
  }
});
