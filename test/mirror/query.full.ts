import { join } from 'node:path';
import { expect, it } from 'vitest';
import { queryCopy } from '../../src/mirror/query.ts';
import { ENDLESS } from './hostile-statements.ts';
import { MovingService } from './moving-service.ts';
import { syncing } from './syncing.ts';

const PROGRAM = [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js'), '__query'] as const;

it('ends every endless statement at its time', async () => {
  const service = new MovingService(9);
  service.live(400, 3_600_000);
  service.moves = false;
  await using world = await syncing(service);
  await world.mirror.sync();
  const parts = { program: PROGRAM, env: { PATH: process.env['PATH'] }, signal: new AbortController().signal };
  for (const sql of ENDLESS) {
    const began = performance.now();
    const asked = queryCopy({ path: world.mirror.path, sql }, 5_000, parts).then(async ({ batches }) => {
      for await (const _rows of batches);
    });
    await expect(asked, sql).rejects.toMatchObject({ kind: expect.stringMatching(/^(?:wait_expired|usage)$/) });
    expect(performance.now() - began).toBeLessThan(10_000);
  }
}, 120_000);
