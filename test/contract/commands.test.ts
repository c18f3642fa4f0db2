/** `contract show` and `contract openapi` as they are declared: what they return and how it is shown. */
import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { CONTRACT_COMMANDS } from '../../src/commands/contract/contract.ts';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { NO_OVERRIDES, type Overrides } from '../../src/contract/overrides.ts';
import { facts } from '../../src/contract/provenance.ts';
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
  it('fits 80 columns, a line a fact, with nothing but long texts cut', async () => {
    const { out, err } = await show();
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(facts(NO_OVERRIDES).length + 1);
    expect(lines[0]).toMatch(/^§ +NAME +WHAT +BASIS$/);
    expect(Math.max(...lines.map(line => [...line].length))).toBeLessThanOrEqual(80);
    expect(out).toMatch(/^4\.3 +cards\.fund +POST \/cards\/\{card_id\}\/fund +A-08$/m);
    expect(err).toMatch(/\d+ facts: \d+ stated, \d+ with an assumption\./);
  });

  it('shows kind and what is taken as well when there is room', async () => {
    const [head] = (await show({ format: 'wide', columns: 240 })).out.split('\n');
    expect(head).toMatch(/^§ +KIND +NAME +WHAT +BASIS +SURE +TAKEN/);
  });

  it('gives everything to programs', async () => {
    const { data, page } = await rows();
    expect(page).toEqual({ total: data.length });
    expect(data.find(({ name }) => name === 'cards.fund')).toEqual({
      section: '4.3',
      kind: 'operation',
      name: 'cards.fund',
      what: 'POST /cards/{card_id}/fund',
      basis: 'A-08',
      doc: 'Move money from the wallet to a card',
      assumed: 'A-08',
      why: 'method and path are not shown',
      taken: 'POST /cards/{card_id}/fund',
      because: 'Flutterwave; Interlace transfer-in',
      variants: 'set: /topup, /deposit, /load',
      confidence: 'M',
    });
  });

  it('narrows to a section, with those below it', async () => {
    const sections = async (section: string) =>
      new Set((await rows({ input: { section } })).data.map(fact => fact['section']));
    expect(await sections('2.1')).toEqual(new Set(['2.1']));
    expect(await sections('§4.1')).toEqual(new Set(['4.1']));
    expect(await sections('4')).toEqual(new Set(['4', '4.1', '4.2', '4.3', '4.4', '4.5']));
  });

  it('narrows to what is assumed, and to one assumption, told in full', async () => {
    const { data } = await rows({ input: { assumed: true, section: '2.1' } });
    expect(data.map(({ name }) => name)).toContain('card.balance');
    expect(data.map(({ name }) => name)).not.toContain('card.last4');
    const one = await show({ input: { id: 'a-08' } });
    expect(one.out.trimEnd().split('\n')).toHaveLength(2);
    expect(one.err).toContain('because: Flutterwave');
    expect(one.err).toContain('confidence: medium');
  });

  it.each([
    [{ id: 'A-999' }, '--id A-999 is no assumption; they go from A-01 to A-'],
    [{ section: '2.9' }, '--section 2.9 has no facts; sections: 2 2.1'],
    [{ section: '' }, '--section  has no facts'],
  ])('refuses %j before anything is shown', async (input, expected) => {
    await expect(show({ input })).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(expected),
    });
  });

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
