/** The stories of these folders and the pages of the guide as tests; test/README.md shows how to write one. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { GUIDE_PAGES } from '../support/guide-pages.ts';
import { runTranscript } from '../support/transcript.ts';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const update = process.env['UPDATE'] === '1';

const stories = (await readdir(here, { recursive: true })).filter(name => name.endsWith('.md'));

const paths = [...stories.map(name => join(here, name)), ...GUIDE_PAGES.map(page => join(root, page))];

describe('transcripts', () => {
  it.each(paths.map(path => [path.slice(root.length + 1), path] as const))('%s', async (_, path) => {
    expect(await runTranscript(path, { update })).toEqual([]);
  });
});
