/** A thousand deliveries, repeated and out of order. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'vitest';
import { SECRET, shownOnceEach } from '../support/listening.ts';
import { world } from '../support/world.ts';

it('shows 1,000 deliveries once each and flags the late ones', async () => {
  await using here = await world();
  await writeFile(join(here.folder, 'secret'), SECRET);
  await shownOnceEach(here, 1_000);
});
