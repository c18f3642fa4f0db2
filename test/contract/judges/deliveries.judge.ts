/**
 * What the sandbox really posts to a subscription, held against `webhooks` of the document by Ajv: neither Prism nor
 * Redocly looks at them.
 */
import { expect, it } from 'vitest';
import { EVENTS } from '../../../src/contract/events.ts';
import { scene } from '../../sandbox/delivery/scene.ts';
import { tellLongHistory } from '../../support/long-history.ts';
import { type Received, receiver } from '../../support/receiver.ts';
import { DOCUMENTS, load } from './installed.ts';

interface Schemas {
  addSchema(document: object, name: string): Schemas;
  addKeyword(keyword: object): Schemas;
  addVocabulary(words: readonly string[]): Schemas;
  validate(schema: object, value: unknown): boolean;
  errorsText(): string;
}

const schemas = checker();

/** Ajv for the document; marks are words it need not know, decimals are checked as text, as money is written. */
function checker(): Schemas {
  const { Ajv2020 } = load('ajv/dist/2020') as { Ajv2020: new (options: object) => Schemas };
  const { default: addFormats } = load('ajv-formats') as { default: (to: Schemas) => Schemas };
  const { openapi: _, info: __, servers: ___, security: ____, tags: _____, ...rest } = DOCUMENTS.service;
  return addFormats(new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }))
    .addVocabulary(['x-stated', 'x-assumed', 'x-secret', 'paths', 'webhooks', 'components'])
    .addKeyword({
      keyword: 'x-decimals',
      type: 'number',
      validate: (most: number, value: number) => (/\.(\d+)$/.exec(String(value))?.[1] ?? '').length <= most,
    })
    .addSchema(rest, 'service');
}

const pointer = (parts: readonly string[]) =>
  parts.map(part => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Why a delivery is not what the document says; undefined when it is. */
function problemOf({ json, headers }: Received, event: string): string | undefined {
  const at = ['webhooks', event, 'post'];
  const body = ['requestBody', 'content', 'application/json', 'schema'];
  if (!schemas.validate({ $ref: `service#${pointer([...at, ...body])}` }, json)) {
    return `${event}: ${schemas.errorsText()}`;
  }
  const webhooks = DOCUMENTS.service['webhooks'] as Readonly<Record<string, { readonly post: Posted }>>;
  for (const { name, required, schema } of webhooks[event]?.post.parameters ?? []) {
    const given = headers[name.toLowerCase()];
    if (given === undefined && !required) continue;
    const value = (schema as { type: string }).type === 'integer' ? Number(given) : given;
    if (!schemas.validate(schema, value)) return `${event}: header ${name}: ${schemas.errorsText()}`;
  }
  return undefined;
}

interface Posted {
  readonly parameters: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[];
}

/** Everything a subscription to all events gets in a long history, and an example of each event. */
async function delivered(dialect: string): Promise<readonly Received[]> {
  await using inbox = await receiver();
  await using stage = await scene({ dialect });
  const subscription = await stage.subscribe(inbox.url);
  await stage.event();
  await stage.event();
  await tellLongHistory(stage.sandbox);
  const { json } = await stage.admin('POST', '/simulate/deposits', { currency: 'sol', amount: 12.34 });
  await stage.admin('POST', `/simulate/deposits/${json.deposit_id}/confirm`);
  for (const event of Object.keys(EVENTS)) await stage.admin('POST', `/webhooks/${subscription}/send`, { event });
  await stage.drain();
  return [...inbox.received];
}

it('every delivery is what the document says of its event, and there is one of each', async () => {
  const all = await delivered('default');
  const problems = all.map(delivery => problemOf(delivery, delivery.json.type));
  expect(problems.filter(Boolean)).toEqual([]);
  // The examples are twelve of them; what happened must have every event too.
  const happened = all.slice(0, -Object.keys(EVENTS).length).map(({ json }) => json.type);
  expect(new Set(happened)).toEqual(new Set(Object.keys(EVENTS)));
});

it('would see another shape, another signature, a missing member, and fractions of a cent', async () => {
  const [stripe] = await delivered('names-stripe');
  expect(problemOf(stripe as Received, 'card.frozen')).toContain('must have required property');
  const [prefixed] = await delivered('sig-prefixed');
  expect(problemOf(prefixed as Received, 'card.frozen')).toContain('header X-Webhook-Signature');
  const [frozen] = (await delivered('default')) as [Received];
  expect(problemOf(frozen, 'card.frozen')).toBeUndefined();
  expect(problemOf(frozen, 'card.unfrozen')).toContain('must be equal to constant');
  const { status: _, ...without } = frozen.json.data;
  expect(problemOf({ ...frozen, json: { ...frozen.json, data: without } }, 'card.frozen')).toContain("'status'");
  const fraction = { ...frozen.json, data: { ...frozen.json.data, balance: 1.005 } };
  expect(problemOf({ ...frozen, json: fraction }, 'card.frozen')).toContain('x-decimals');
});
