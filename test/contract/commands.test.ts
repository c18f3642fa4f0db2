/** `contract show` and `contract openapi` as they are declared: what they return and how it is shown. */
import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { CONTRACT_COMMANDS } from '../../src/commands/contract/contract.ts';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { NO_OVERRIDES, type Overrides } from '../../src/contract/overrides.ts';
import { readOverrides } from '../../src/contract/read-overrides.ts';
import { present } from '../../src/terminal/present.ts';
import type { OutputFormat, Presentation } from '../../src/terminal/view.ts';
import { memoryStreams } from '../support/streams.ts';

interface Wish {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly overrides?: Overrides;
  readonly format?: OutputFormat;
  readonly columns?: number;
}

async function run(path: string, { input = {}, overrides = NO_OVERRIDES, format = 'table', columns = 80 }: Wish = {}) {
  const command = CONTRACT_COMMANDS.find(each => each.path === path);
  if (command === undefined) throw new Error(`no command ${path}`);
  const context = { api: { overrides: async () => overrides } } as unknown as Context;
  const { verbatim, prose, ...shown } = await command.execute(context, input);
  const streams = memoryStreams({ stdoutTerminal: true, stderrTerminal: true, columns });
  const settings = { format, quiet: false, accessible: false, csvRaw: false, colour: 'never', now: 0 } as const;
  const text = verbatim ?? (format === 'table' ? prose : undefined);
  if (text === undefined) await present(shown as Presentation, settings, streams, {});
  return { out: text ?? streams.out, err: streams.err };
}

const show = (options: Wish = {}) => run('contract show', options);
const rows = async (options: Wish = {}) =>
  JSON.parse((await show({ ...options, format: 'json' })).out) as { data: Record<string, unknown>[]; page: unknown };

describe('contract show', () => {
  it('shows an override as what holds, marked, and keeps what the contract says in JSON', async () => {
    const overrides = readOverrides(
      '{"operations":{"cards.terminate":{"method":"DELETE","path":"/cards/{card_id}"}}}',
      'f',
    );
    const { out, err } = await show({ overrides, input: { section: '4' } });
    expect(out).toMatch(/^4 +cards\.terminate +DELETE \/cards\/\{card_id\} +yours$/m);
    expect(err).toContain('1 yours');
    const { data } = await rows({ overrides });
    expect(data.find(({ name }) => name === 'cards.terminate')).toMatchObject({
      what: 'DELETE /cards/{card_id}',
      override: 'DELETE /cards/{card_id}',
      without_override: 'POST /cards/{card_id}/terminate',
      basis: 'yours',
      assumed: 'A-07',
    });
  });
});

describe('contract openapi', () => {
  it('is the document as JSON, whole and ended by a newline', async () => {
    const { out } = await run('contract openapi');
    expect(out.endsWith('}\n')).toBe(true);
    expect(JSON.parse(out)).toEqual(openApiDocument());
    expect((await run('contract openapi', { format: 'json' })).out).toBe(out);
    expect((await run('contract openapi', { format: 'yaml' })).out).toMatch(/^openapi: "3\.1\.0"$/m);
  });
});

it('every command has two or three examples that run it', async () => {
  for (const { path, examples } of CONTRACT_COMMANDS) {
    expect(examples.length).toBeGreaterThanOrEqual(2);
    expect(examples.length).toBeLessThanOrEqual(3);
    for (const example of examples) expect(example.run.startsWith(path)).toBe(true);
  }
});
