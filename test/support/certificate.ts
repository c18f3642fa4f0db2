/** A certificate for 127.0.0.1, and other names, that signs itself, made of DER by hand: Node makes keys, not certificates. */
import { generateKeyPairSync, sign } from 'node:crypto';

const tagged = (tag: number, ...parts: Uint8Array[]) => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
};
const sequence = (...parts: Uint8Array[]) => tagged(0x30, ...parts);
const oid = (...bytes: number[]) => tagged(0x06, Buffer.from(bytes));
const time = (at: Date) => tagged(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`));

const COMMON_NAME = [0x55, 0x04, 0x03];
const ORGANISATION = [0x55, 0x04, 0x0a];
const ECDSA_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const ALT_NAME = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];

const nameOf = (organisation: string) =>
  sequence(
    tagged(0x31, sequence(oid(...ORGANISATION), tagged(0x0c, Buffer.from(organisation)))),
    tagged(0x31, sequence(oid(...COMMON_NAME), tagged(0x0c, Buffer.from('127.0.0.1')))),
  );

/** Names the organisation as its own issuer; valid for a day around now. */
export function selfSigned(
  organisation: string,
  names: readonly string[] = [],
): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(...ECDSA_SHA256));
  const name = nameOf(organisation);
  const day = 86_400_000;
  const altNames = sequence(
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    ...names.map(each => tagged(0x82, Buffer.from(each))),
  );
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + day))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      0xa3,
      sequence(
        sequence(oid(...BASIC_CONSTRAINTS), tagged(0x04, sequence(tagged(0x01, Buffer.from([255]))))),
        sequence(oid(...ALT_NAME), tagged(0x04, altNames)),
      ),
    ),
  );
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const lines =
    sequence(body, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
