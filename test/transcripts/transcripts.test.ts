import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUIDE_PAGES } from '../support/guide-pages.ts';
import { runTranscript } from '../support/transcript.ts';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const update = process.env['UPDATE'] === '1';

const stories = (await readdir(here, { recursive: true }))
  .filter(name => name.endsWith('.md'))
  .map(name => join(here, name));

describe('transcripts', () => {
  it.each(
    [...stories, ...GUIDE_PAGES.map(page => join(root, page))].map(
      path => [path.slice(root.length + 1), path] as const,
    ),
  )('%s', async (_, path) => {
    expect(await runTranscript(path, { update })).toEqual([]);
  });
});
