/** What a subscription may say (interface 4.5, A-71). Throws `invalid_request` naming the field. */
import { EVENTS } from '../../contract/events.ts';
import { Refused } from '../calls/handler.ts';

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** https anywhere, http on this machine; no user and password in it. */
export function checkEndpoint(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) throw new Refused('invalid_request', 'url: must be an https address');
  if (parsed.username !== '' || parsed.password !== '') {
    throw new Refused('invalid_request', 'url: must not hold a user name or a password');
  }
  if (parsed.protocol === 'https:') return;
  if (parsed.protocol === 'http:' && LOOPBACK.test(parsed.hostname)) return;
  throw new Refused(
    'invalid_request',
    'url: must begin with https://; this sandbox also takes http://localhost, http://127.0.0.1 and http://[::1]',
  );
}

/** Known names or `*`, each once, in the order given. */
export function checkedEvents(events: readonly string[]): readonly string[] {
  if (events.length === 0) throw new Refused('invalid_request', 'events: must not be empty; ["*"] means all');
  const unknown = events.find(name => name !== '*' && !Object.hasOwn(EVENTS, name));
  if (unknown === undefined) return [...new Set(events)];
  throw new Refused('invalid_request', `events: ${JSON.stringify(unknown)} is not an event; see the list or use *`);
}
