/** Redocly and Spectral on both documents; and that they would have said so. */
import { describe, expect, it } from 'vitest';
import { DOCUMENTS, type Document, verdictOf, written } from './installed.ts';

type Node = Record<string, unknown>;

const RULES = { service: 'spectral-service.yaml', sandbox: 'spectral.yaml' } as const;

async function redocly(document: Document) {
  await using file = await written(document);
  return await verdictOf('redocly', ['lint', '--config', 'redocly.yaml', '--max-problems', '1000', file.path]);
}

async function spectral(document: Document, rules: string) {
  await using file = await written(document);
  return await verdictOf('spectral', ['lint', '--ruleset', rules, '--fail-severity', 'warn', file.path]);
}

/** The document of the service with one node changed; `path` leads to it. */
function spoiled(path: readonly string[], change: (node: Node) => void): Document {
  const document = structuredClone(DOCUMENTS.service) as Node;
  const node = path.reduce<unknown>((part, key) => (part as Node)[key], document);
  change(node as Node);
  return document;
}

describe.each(Object.keys(RULES) as (keyof typeof RULES)[])('the document of the %s', name => {
  it('is valid, says Redocly', async () => {
    const { code, text } = await redocly(DOCUMENTS[name]);
    expect(text).toContain('Your API description is valid');
    expect(code).toBe(0);
  });

  it('keeps every rule, says Spectral', async () => {
    const { code, text } = await spectral(DOCUMENTS[name], RULES[name]);
    expect(text).toContain("No results with a severity of 'warn' or higher found!");
    expect(code).toBe(0);
  });
});

describe('what is wrong', () => {
  it('is seen by Redocly: a path parameter nobody declares', async () => {
    const { code, text } = await redocly(
      spoiled(['paths', '/cards/{card_id}', 'get'], operation => {
        operation['parameters'] = [];
      }),
    );
    expect(code).not.toBe(0);
    expect(text).toContain('path-parameters-defined');
  });

  it('is seen by Spectral: a field nobody knows the origin of, a section there is not', async () => {
    const { code, text } = await spectral(
      spoiled(['components', 'schemas', 'Card', 'properties'], fields => {
        fields['label'] = { type: 'string' };
        fields['status'] = { ...(fields['status'] as Node), 'x-stated': '12' };
      }),
      RULES.service,
    );
    expect(code).not.toBe(0);
    expect(text).toMatch(/every-node-is-marked .*neither x-stated nor x-assumed .*Card\.properties\.label/);
    expect(text).toMatch(/every-node-is-marked .*no section of the interface: 12 .*status\.x-stated/);
    expect(text).toContain('2 problems');
  });
});
