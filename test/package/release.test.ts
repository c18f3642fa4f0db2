import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { home, ROOT } from './built.ts';

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join(ROOT, '.github', 'workflows');
const workflows = readdirSync(folder).map(name => {
  const text = readFileSync(join(folder, name), 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});

describe.each(workflows)('the workflow $name', ({ text, workflow }) => {
  const steps = Object.values(workflow.jobs).flatMap(job => job.steps);

  it('keeps no secret', () => {
    expect(text).not.toMatch(/secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN/);
  });

  it('names every action by its commit', () => {
    const uses = steps.flatMap(step => step.uses ?? []);
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter(action => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it('may write only where it publishes, and installs nothing there', () => {
    expect(Object.values(workflow.permissions ?? { all: 'write' })).not.toContain('write');
    for (const { permissions = {}, steps: own } of Object.values(workflow.jobs)) {
      const lines = own.flatMap(step => step.run ?? []);
      if (Object.values(permissions).includes('write'))
        expect(lines.join('\n')).not.toMatch(/npm (?:ci|install|run|test)/);
      else expect(lines.join('\n')).not.toContain('npm publish');
    }
  });
});

it('a release is published with provenance', () => {
  const { workflow } = workflows.find(({ name }) => name === 'release.yml') ?? { workflow: { jobs: {} } };
  const publishing = Object.values(workflow.jobs).filter(job =>
    job.steps.some(step => /npm publish/.test(step.run ?? '')),
  );
  expect(publishing.map(job => job.permissions?.['id-token'])).toEqual(['write']);
  for (const { run = '' } of publishing.flatMap(job => job.steps)) {
    if (run.includes('npm publish'))
      expect(run).toMatch(/--provenance .*--ignore-scripts|--ignore-scripts .*--provenance/);
  }
});

it('the SBOM has what is installed and what is bundled, and no tool', async () => {
  await using place = await home();
  const file = join(place.folder, 'sbom.json');
  execFileSync(process.execPath, [join(ROOT, 'packaging', 'sbom.mjs'), file]);
  const document = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly metadata: { readonly component: { readonly name: string } };
    readonly components: readonly { readonly name: string; readonly hashes?: readonly object[] }[];
  };
  const names = document.components.map(component => component.name);
  expect(document.metadata.component.name).toBe('cardwright');
  expect(names).toEqual(expect.arrayContaining(['@photostructure/sqlite', 'undici', 'commander', 'conf', 'yaml']));
  for (const tool of ['vitest', 'esbuild', 'typescript', '@biomejs/biome', 'publint'])
    expect(names).not.toContain(tool);
  expect(document.components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
});
