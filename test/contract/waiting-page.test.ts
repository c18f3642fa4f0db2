/** The guide says of deliveries what the contract says. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { BEHAVIOURS } from '../../src/contract/behaviours.ts';

test.each(['A-78', 'A-79', 'A-80', 'A-81'])('the guide to webhooks has the rule of %s', async assumption => {
  const guide = await readFile(new URL('../../docs/guide/waiting.md', import.meta.url), 'utf8');
  const row = BEHAVIOURS.find(({ basis }) => JSON.stringify(basis).includes(`"${assumption}"`));
  const line = guide.split('\n').find(each => each.includes(`(${assumption})`));
  expect(line).toContain(`| ${row?.rule.replace(/^after /, 'disabled after ')} |`);
});
