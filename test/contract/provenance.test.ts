import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/contract/events.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { NO_OVERRIDES } from '../../src/contract/overrides.ts';
import { type Fact, facts, sectionOrder } from '../../src/contract/provenance.ts';
import { readOverrides } from '../../src/contract/read-overrides.ts';
import { REFUSALS } from '../../src/contract/refusals.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';

const all = facts(NO_OVERRIDES);
const named = (name: string, from: readonly Fact[] = all) => from.find(fact => fact.name === name);
const names = (kind: Fact['kind']) => all.filter(fact => fact.kind === kind).map(({ name }) => name);

describe('facts', () => {
  it.each([
    '2.1',
    '2.2',
    '2.3',
    '2.4',
    '2.5',
    '2.6',
    '2.7',
    '3',
    '4',
    '4.1',
    '4.2',
    '4.3',
    '4.4',
    '4.5',
    '5',
    '6',
    '7',
    '8',
    '9',
  ])('has facts of section %s', section => {
    expect(all.filter(fact => fact.section === section).length).toBeGreaterThan(0);
  });

  it('is in the order of the sections', () => {
    const sections = all.map(({ section }) => section);
    expect(sections).toEqual([...sections].sort(sectionOrder));
  });

  it('says of every fact where it is known from, and why where it is assumed', () => {
    for (const { name, stated, assumed, why, taken } of all) {
      expect(stated ?? assumed, name).toBeDefined();
      if (assumed !== undefined)
        expect({ why: why !== '', taken: taken !== '' }, name).toEqual({ why: true, taken: true });
    }
  });

  it('holds every operation, event, refusal and limit, and nothing of the sandbox', () => {
    expect(
      names('operation')
        .filter(name => !name.endsWith(' answer'))
        .sort(),
    ).toEqual(Object.keys(OPERATIONS).sort());
    expect(names('event')).toEqual(Object.keys(EVENTS));
    expect(names('error')).toEqual(Object.keys(REFUSALS));
    expect(names('limit')).toEqual(Object.keys(LIMITS));
    for (const name of Object.keys(ADMIN_OPERATIONS)) expect(named(name)).toBeUndefined();
  });

  it('tells what a fact is in few words', () => {
    expect(named('cards.freeze')).toMatchObject({
      kind: 'operation',
      what: 'POST /cards/{card_id}/freeze',
      assumed: 'A-05',
    });
    expect(named('cards.create amount')).toMatchObject({
      section: '4.1',
      what: 'money, from 1.00 to 5000.00 USD, required',
    });
    expect(named('card.auto_freeze_at')?.what).toBe('money, or null');
    expect(named('details.number')).toMatchObject({ what: 'text, named pan, secret', stated: '2.1', assumed: 'A-30' });
    expect(named('webhook_signature')).toMatchObject({ kind: 'header', what: 'X-Webhook-Signature', section: '6' });
    expect(named('webhooks.delete answer')?.what).toBe('204, empty');
    expect(named('cards.list answer')?.what).toBe('200, {data, meta}');
    expect(named('fundingAmount')).toMatchObject({ what: 'from 1.00 to 5000.00 USD', stated: '8' });
  });

  it('carries the whole assumption', () => {
    expect(named('cards.fund')).toMatchObject({
      assumed: 'A-08',
      taken: 'POST /cards/{card_id}/fund',
      because: 'Flutterwave; Interlace transfer-in',
      variants: 'set: /topup, /deposit, /load',
      confidence: 'M',
    });
  });

  it('gives no two fields or operations one name', () => {
    const unique = [...names('field'), ...names('operation')];
    expect(new Set(unique).size).toBe(unique.length);
  });
});

describe('facts with overrides', () => {
  const overrides = readOverrides(
    JSON.stringify({
      operations: {
        'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' },
        'cards.freeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'frozen' } },
        'transactions.list': { path: '/history' },
      },
      fields: { 'details.number': 'card_number', 'details.expiry': 'exp', 'card.colour': 'color' },
      headers: { webhook_signature: 'X-Signature' },
    }),
    'mine.json',
  );
  const mine = facts(overrides);

  it('keeps what the contract says and adds what holds', () => {
    expect(named('cards.terminate', mine)).toMatchObject({
      what: 'POST /cards/{card_id}/terminate',
      override: 'DELETE /cards/{card_id}',
    });
    expect(named('cards.freeze', mine)?.override).toBe('PATCH /cards/{card_id} with {"status":"frozen"}');
    expect(named('transactions.list', mine)?.override).toBe('GET /history');
    expect(named('details.number', mine)?.override).toBe('card_number');
    expect(named('details.expiry', mine)?.override).toBe('exp');
    expect(named('webhook_signature', mine)?.override).toBe('X-Signature');
  });

  it('marks exactly those, and shows one the contract does not know in its section', () => {
    expect(mine.filter(({ override }) => override !== undefined)).toHaveLength(7);
    expect(named('card.colour', mine)).toMatchObject({ section: '2.1', override: 'color' });
    expect(mine).toHaveLength(all.length + 1);
  });
});
