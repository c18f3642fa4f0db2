/** Whom TLS trusts, against a real server that signs its own certificate. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Observed } from '../../src/client/request.ts';
import { authorities, checkVerification } from '../../src/platform/trust.ts';
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
    const trusted = await authorities({ SSL_CERT_FILE: 'ca.pem' }, readFile);
    const { service } = speak(baseUrl, { authorities: trusted, onAnswer: observed => seen.push(observed) });
    await service.send('wallet.get', {});
    expect(seen[0]).toMatchObject({ status: 200, certificate: { issuer: 'Corporate Proxy' } });
    expect(Date.parse(seen[0]?.certificate?.validTo ?? '')).toBeGreaterThan(Date.now());
    await service.close();
  });

  it('is added to the list of Node and to what NODE_EXTRA_CA_CERTS names', async () => {
    expect(await authorities({}, readFile)).toBeUndefined();
    expect(await authorities({ NODE_EXTRA_CA_CERTS: 'ca.pem' }, readFile)).toBeUndefined();
    const all = await authorities({ SSL_CERT_FILE: 'ca.pem', NODE_EXTRA_CA_CERTS: 'ca.pem' }, readFile);
    expect(all?.length).toBeGreaterThan(50);
    expect(all?.filter(each => each === cert)).toHaveLength(2);
  });

  it('must be in the file that is named', async () => {
    await expect(authorities({ SSL_CERT_FILE: 'other' }, readFile)).rejects.toMatchObject({ kind: 'usage' });
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
