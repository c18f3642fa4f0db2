/**
 * Whether a request goes through a proxy: the variables every tool knows, loopback exempt
 * (docs/design/security.md, E9).
 */
import { CliError } from '../core/errors.ts';
import type { Environment } from '../platform/host.ts';

/**
 * The proxy for an https origin, undefined for a direct connection. Plain http goes to this machine only and
 * never through a proxy. Throws `usage` for an unusable address, without repeating it: it may hold a password.
 */
export function proxyFor(origin: URL, env: Environment): URL | undefined {
  if (origin.protocol !== 'https:' || isLoopback(origin.hostname)) return undefined;
  const [name, text] = firstSet(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']);
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

function firstSet(env: Environment, names: readonly string[]): [string, string] {
  const name = names.find(each => env[each]) ?? '';
  return [name, env[name] ?? ''];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** `*`, `host`, `.suffix`, `*.suffix`, each with an optional port. */
function isExempt(origin: URL, list: string): boolean {
  const port = origin.port || '443';
  return list.split(/[\s,]+/).some(entry => {
    if (entry === '*') return true;
    const [, rule = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const suffix = rule.replace(/^\*?\./, '');
    if (suffix === '' || (onPort !== undefined && onPort !== port)) return false;
    return origin.hostname === suffix || origin.hostname.endsWith(`.${suffix}`);
  });
}
