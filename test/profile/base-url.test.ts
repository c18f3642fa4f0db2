import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBaseUrl } from '../../src/profile/parts.ts';
import { failure } from './dependencies.ts';
import { LOOK_ALIKES } from './look-alikes.ts';

describe('usable base addresses', () => {
  test.each([
    ['https://api.example.com/v1', 'https://api.example.com/v1', 'https://api.example.com', false],
    ['https://api.example.com/v1/', 'https://api.example.com/v1', 'https://api.example.com', false],
    ['HTTPS://API.Example.com', 'https://api.example.com', 'https://api.example.com', false],
    ['https://api.example.com:443/v1', 'https://api.example.com/v1', 'https://api.example.com', false],
    ['https://api.example.com:8443', 'https://api.example.com:8443', 'https://api.example.com:8443', false],
    ['https://192.0.2.7', 'https://192.0.2.7', 'https://192.0.2.7', false],
    ['https://[2001:db8::1]/v1', 'https://[2001:db8::1]/v1', 'https://[2001:db8::1]', false],
    ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080', true],
    ['http://127.8.9.10', 'http://127.8.9.10', 'http://127.8.9.10', true],
    ['http://[::1]:9', 'http://[::1]:9', 'http://[::1]:9', true],
    ['http://localhost:3000', 'http://localhost:3000', 'http://localhost:3000', true],
    ['https://localhost', 'https://localhost', 'https://localhost', true],
    ['https://api.localhost', 'https://api.localhost', 'https://api.localhost', true],
  ])('%s', (typed, href, origin, loopback) => {
    expect(checkBaseUrl(typed, 'test')).toEqual({ href, origin, loopback });
  });

  test('a live key goes to no address of this machine', async () => {
    for (const typed of [
      'http://127.0.0.1',
      'https://127.9.9.9',
      'http://[::1]',
      'https://localhost:1',
      'https://x.localhost',
    ]) {
      expect((await failure(() => checkBaseUrl(typed, 'live'))).kind).toBe('guarded');
    }
    expect(checkBaseUrl('https://api.example.com', 'live').loopback).toBe(false);
  });
});

describe('look-alikes', () => {
  test.each(LOOK_ALIKES.map(typed => [JSON.stringify(typed), typed]))(
    '%s is refused by a named rule',
    async (_, typed) => {
      const error = await failure(() => checkBaseUrl(typed, 'test'));
      expect(error.kind).toBe('usage');
      expect(error.message).toMatch(/^not a usable base address: [\x20-\x7e]+$/);
      expect(error.message).not.toMatch(/evil|hunter2|exa?mple/);
    },
  );

  test('what is accepted is what was typed, for any text', () => {
    const label = fc.constantFrom(
      '127.0.0.1',
      '127.1',
      'localhost',
      '[::1]',
      '::1',
      'evil',
      '0x7f',
      '.',
      '@',
      ':8080',
      '%',
      'é',
    );
    const rest = fc.constantFrom('', '/', '/v1', '\\', '?', '#', '\t', '/..', '@evil');
    const address = fc.tuple(
      fc.constantFrom('http://', 'https://', 'HTTP://', 'http:/'),
      fc.array(label, { minLength: 1, maxLength: 3 }),
      rest,
    );
    let acceptedOnes = 0;
    fc.assert(
      fc.property(address, ([scheme, labels, end]) => {
        const typed = `${scheme}${labels.join('')}${end}`;
        let accepted: { href: string } | undefined;
        try {
          accepted = checkBaseUrl(typed, 'test');
        } catch {
          return;
        }
        acceptedOnes += 1;
        const { hostname, protocol, href } = new URL(accepted.href);
        expect(typed.toLowerCase().split('/')[2]?.replace(/:\d+$/, '')).toBe(hostname);
        expect(protocol === 'https:' || /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname)).toBe(true);
        expect(href).not.toMatch(/[@?#]/);
      }),
      { numRuns: 6000 },
    );
    expect(acceptedOnes).toBeGreaterThan(50);
  });

  test('a key or password typed as an address is not repeated', async () => {
    for (const typed of [
      'sk_live_CANARY12',
      'https://sk_live_CANARY12@x.com',
      'http://sk_live_CANARY12',
      'https://sk_live_CANARY12.',
    ]) {
      expect((await failure(() => checkBaseUrl(typed, 'test'))).message).not.toContain('CANARY');
    }
  });
});
