/**
 * Where a delivery may go (docs/design/sandbox.md, section 10): to this machine, elsewhere only when that was allowed
 * and over TLS. A name is resolved once and the address found is the one connected to, so that a name cannot change in
 * between.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Resolves a name to one address. */
export type Resolve = (name: string) => Promise<string>;

/** The address of `name` by the system. */
export const systemResolve: Resolve = async name => (await lookup(name, { verbatim: false })).address;

/** A delivery must not go where its subscription points. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

/**
 * The address to connect to. No name is looked up where nothing but this machine is allowed: `localhost` stands for
 * 127.0.0.1 then, every other name is refused. Throws `NotAllowed`, or the resolver's own error.
 */
export async function allowedAddress(
  url: URL,
  { resolve, allowRemote }: { resolve: Resolve; allowRemote: boolean },
): Promise<string> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost') return '127.0.0.1';
  if (isLoopback(host)) return host;
  if (!allowRemote) {
    throw new NotAllowed(`${host} is not this machine; sandbox start --allow-remote-webhooks would send there`);
  }
  const address = isIP(host) === 0 ? await resolve(host) : host;
  if (isLoopback(address)) return address;
  const what = address === host ? address : `${host} is ${address}, which`;
  if (url.protocol !== 'https:') throw new NotAllowed(`${what} is not this machine and needs https`);
  return address;
}

/** 127.0.0.0/8 and ::1, also as an IPv4 address written as IPv6. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1';
}
