/** The stories of these folders and the pages of the guide as tests; test/README.md shows how to write one. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { GUIDE_PAGES } from '../support/guide-pages.ts';
import { runTranscript } from '../support/transcript.ts';
import { isWhole } from '../support/whole.ts';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const update = process.env['UPDATE'] === '1';

/**
 * Stories of looking, counting and writing differently, whose rules other tests hold as well: the whole run tells them, and
 * every run that writes stories down. What moves money, refuses or loses an answer is always told.
 */
const LONG: ReadonlySet<string> = new Set([
  'api/raw-requests.md',
  'bins/list-and-pick.md',
  'bulk/idle.md',
  'bulk/other-forms.md',
  'cards/get.md',
  'cards/hostile-label.md',
  'cards/list-idle.md',
  'cards/list-sorted.md',
  'cards/list.md',
  'cards/list-where.md',
  'fleet/adopted.md',
  'fleet/changed-fields.md',
  'fleet/retired.md',
  'fleet/top-up.md',
  'books/first-copy.md',
  'books/off-and-away.md',
  'overview/one-page.md',
  'policy/idle-cards.md',
  'profiles/nothing-chosen.md',
  'profiles/settings.md',
  'books/a-month-of-life.md',
  'run/another-route.md',
  'run/asked-for.md',
  'run/copied.md',
  'run/explain.md',
  'run/fields.md',
  'run/jq.md',
  'run/short-ids.md',
  'run/verbose.md',
  'sandbox/3ds-ends.md',
  'sandbox/auto-freeze.md',
  'sandbox/clock.md',
  'sandbox/declines.md',
  'sandbox/deposits.md',
  'sandbox/ended-with-holds.md',
  'sandbox/ids.md',
  'sandbox/load.md',
  'sandbox/looking.md',
  'sandbox/narrow.md',
  'sandbox/scenario.md',
  'sandbox/snapshots.md',
  'sandbox/why.md',
  'books/derived-lines.md',
  'books/month-end.md',
  'tx/list.md',
  'tx/service-clock.md',
  'tx/summary.md',
  'wallet/qr.md',
  'webhooks/events.md',
  'webhooks/refused.md',
  'webhooks/verify.md',
]);

const stories = (await readdir(here, { recursive: true })).filter(name => name.endsWith('.md'));

const isTold = (name: string) => isWhole || update || !LONG.has(name);
const told = stories.filter(isTold).map(name => join(here, name));
const paths = [...told, ...GUIDE_PAGES.map(page => join(root, page))];

describe('transcripts', () => {
  it.each(paths.map(path => [path.slice(root.length + 1), path] as const))('%s', async (_, path) => {
    expect(await runTranscript(path, { update })).toEqual([]);
  });

  it('those that are long are there', () => {
    expect([...LONG].filter(name => !stories.includes(name))).toEqual([]);
  });
});
