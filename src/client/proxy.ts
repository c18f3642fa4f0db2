/**
 * Proxies: the variables that every tool knows, loopback exempt, and a tunnel through one with CONNECT
 * (docs/design/security.md, E9).
 */
import type { ClientRequest } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { CliError } from '../core/errors.ts';
import type { Environment } from '../platform/host.ts';
import { describeFailure, WireProblem } from './wire.ts';

/**
 * The proxy for an https origin, undefined for a direct connection. Plain http goes to this machine only and
 * never through a proxy. Throws `usage` for an unusable address, without repeating it: it may hold a password.
 */
export function proxyFor(origin: URL, env: Environment): URL | undefined {
  if (origin.protocol !== 'https:' || isLoopback(origin.hostname)) return undefined;
  const name = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find(each => env[each]) ?? '';
  const text = env[name] ?? '';
  if (text === '' || isExempt(origin, env['no_proxy'] || env['NO_PROXY'] || '')) return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new CliError('usage', {
      message: `${name} is not an http or https address of a proxy`,
      hint: 'cardwright doctor',
      outcome: 'not_sent',
    });
  }
  return url;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** `*`, `host`, `.suffix`, `*.suffix`, an address or a range of addresses in CIDR; all but ranges with an optional port. */
function isExempt(origin: URL, list: string): boolean {
  const host = bare(origin.hostname);
  const port = origin.port || '443';
  return list.split(/[\s,]+/).some(entry => {
    if (entry === '*') return true;
    if (isIP(entry) !== 0 || entry.includes('/')) return isIP(host) !== 0 && isInRange(host, entry);
    const [, rule = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (onPort !== undefined && onPort !== port) return false;
    if (rule.startsWith('[')) return isIP(host) !== 0 && isInRange(host, bare(rule));
    const suffix = rule.replace(/^\*?\./, '');
    return suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`));
  });
}

/** Without the brackets of an IPv6 address. */
const bare = (host: string) => host.replace(/^\[|\]$/g, '');

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Whether an address is the given one, or in a range such as `10.0.0.0/8`; a range that is none holds nothing. */
function isInRange(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/');
  const most = isIP(network) === 6 ? 128 : 32;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (isIP(network) === 0 || !(prefix <= most)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(network, prefix, familyOf(network));
  return addresses.check(address, familyOf(address));
}

interface TunnelRequest {
  readonly proxy: URL;
  /** Host and port the tunnel leads to. */
  readonly target: string;
  /** Whom TLS to an https proxy trusts, in place of Node's own list. */
  readonly secureContext: SecureContext | undefined;
  readonly timeoutMs: number;
  /** Gets what is being made, which can be destroyed. */
  readonly onDial: (request: ClientRequest) => void;
}

/**
 * Asks the proxy for a tunnel; resolves to a socket that is connected to the target. Nothing of the real request leaves before.
 * Ours and not undici's ProxyAgent: that one dials again without end when a proxy closes the connection, and its requests cannot
 * be given up while the tunnel is being made.
 */
export async function openTunnel({ proxy, target, secureContext, timeoutMs, onDial }: TunnelRequest): Promise<Socket> {
  const isTls = proxy.protocol === 'https:';
  const { request } = isTls ? await import('node:https') : await import('node:http');
  const host = bare(proxy.hostname);
  const connect = request({
    method: 'CONNECT',
    host,
    port: proxy.port || (isTls ? 443 : 80),
    path: target,
    agent: false,
    timeout: timeoutMs,
    headers: { host: target, ...credentials(proxy) },
    // Node takes the name for TLS from the header `host`, and that is the target's.
    ...(isTls && { servername: isIP(host) === 0 ? host : '', secureContext }),
  });
  onDial(connect);
  return new Promise((resolve, reject) => {
    const fail = (text: string) => reject(new WireProblem(text));
    connect.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      fail(`the proxy ${proxy.host} answered ${response.statusCode} to the request for a tunnel to ${target}`);
    });
    connect.once('timeout', () => connect.destroy(new WireProblem(`the proxy ${proxy.host} did not answer in time`)));
    connect.once('error', error => fail(`proxy: ${describeFailure(error, proxy.host).text}`));
    connect.end();
  });
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${unescaped(username)}:${unescaped(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Every escape as its character; a `%` that begins none is itself. */
function unescaped(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, escapes => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
