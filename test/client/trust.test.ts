/** Whom TLS trusts, against a real server that signs its own certificate. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Observed } from '../../src/client/request.ts';
import { checkVerification, trustedBy } from '../../src/platform/trust.ts';
import { selfSigned } from '../support/certificate.ts';
import { speak, thrown, WALLET } from './served.ts';

const { key, cert } = selfSigned('Corporate Proxy');
const server = createServer({ key, cert }, (_, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(WALLET));
});
let baseUrl: string;
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => void server.close());

const readFile = async (path: string) => (path === 'ca.pem' ? cert : 'no certificate here');

describe('a private authority', () => {
  it('is not trusted by itself; the error names who issued the certificate', async () => {
    const failed = await thrown(speak(baseUrl).service.send('wallet.get', {}));
    expect(failed).toMatchObject({ kind: 'unreachable' });
    expect(failed.message).toContain('Corporate Proxy');
  });

  it('is trusted through SSL_CERT_FILE, and its issuer and end are known', async () => {
    const seen: Observed[] = [];
    const secureContext = await trustedBy({ SSL_CERT_FILE: 'ca.pem' }, readFile);
    const { service } = speak(baseUrl, { secureContext, onAnswer: observed => seen.push(observed) });
    await service.send('wallet.get', {});
    expect(seen[0]).toMatchObject({ status: 200, certificate: { issuer: 'Corporate Proxy' } });
    expect(Date.parse(seen[0]?.certificate?.validTo ?? '')).toBeGreaterThan(Date.now());
    await service.close();
  });

  it('is trusted beside it through NODE_EXTRA_CA_CERTS, which Node itself reads where SSL_CERT_FILE is not set', async () => {
    expect(await trustedBy({}, readFile)).toBeUndefined();
    expect(await trustedBy({ NODE_EXTRA_CA_CERTS: 'ca.pem' }, readFile)).toBeUndefined();
    const { cert: another } = selfSigned('Another Proxy');
    const both = { SSL_CERT_FILE: 'another.pem', NODE_EXTRA_CA_CERTS: 'ca.pem' };
    const secureContext = await trustedBy(both, async path => (path === 'another.pem' ? another : readFile(path)));
    const { service } = speak(baseUrl, { secureContext });
    expect(await service.send('wallet.get', {})).toBeDefined();
    await service.close();
  });

  it('must be in the file that is named', async () => {
    await expect(trustedBy({ SSL_CERT_FILE: 'other' }, readFile)).rejects.toMatchObject({ kind: 'usage' });
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  const off = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const origin = new URL('https://api.example.com');

  it('is refused with a live key and warned of with a test key', () => {
    expect(() => checkVerification(origin, 'live', off)).toThrow('a live key is not sent without them');
    expect(checkVerification(origin, 'test', off)).toContain('the receiver of the key is not checked');
  });

  it('does not matter where there is no TLS, or where it says something else', () => {
    expect(checkVerification(new URL('http://127.0.0.1:1'), 'test', off)).toBeUndefined();
    expect(checkVerification(origin, 'live', {})).toBeUndefined();
    expect(checkVerification(origin, 'live', { NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toBeUndefined();
  });
});
