/** The bundle links packages in its own way, so what they make from source must be seen to be made from dist as well. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { home } from './built.ts';

it('the built program filters by jq and plays a scenario in YAML', async () => {
  await using place = await home();
  const run = (...words: string[]) => place.run(['--sandbox', ...words]);
  expect(await run('wallet', '--jq', '.currency, .balance')).toMatchObject({ code: 0, err: '', out: 'USD\n10000\n' });
  const file = join(place.folder, 'story.yaml');
  await writeFile(file, 'scenario: A look\nsteps:\n  - wallet.get:\n    expect: {balance: 10000}\n');
  expect(await run('sandbox', 'simulate', 'run', file)).toMatchObject({ code: 0, out: '1\t3\twallet.get\tok\t\n' });
});
