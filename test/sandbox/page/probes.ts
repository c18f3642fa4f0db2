/** What a browser sends to the inspector, so that a probe and its twin can differ in one thing. */
import type { FakeService } from '../../support/fake-service.ts';
import { ask, type Got } from '../../support/sandbox-http.ts';

export const ADMIN = '/_sandbox/v1';
export type Headers = Readonly<Record<string, string | undefined>>;

/** As a script of the page itself asks. */
export const fromPage = (service: FakeService, more: Headers = {}): Headers => ({
  authorization: undefined,
  origin: new URL(service.url).origin,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'same-origin',
  'sec-fetch-dest': 'empty',
  ...more,
});

/** As a browser goes to an address that somebody typed. */
export const going = (more: Headers = {}): Headers => ({
  authorization: undefined,
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  ...more,
});

export interface Session {
  readonly cookie: string;
  readonly half: string;
}

/** A ticket, by the admin token. */
export async function ticketOf(service: FakeService, access: 'full' | 'look' = 'full'): Promise<string> {
  const { json } = await ask(service, { method: 'POST', path: `${ADMIN}/page/tickets`, body: { access } });
  return new URL(json.url).hash.replace('#t=', '');
}

export const redeem = (service: FakeService, ticket: string, headers: Headers = {}): Promise<Got> =>
  ask(service, {
    method: 'POST',
    path: `${ADMIN}/page/session`,
    body: { ticket },
    headers: fromPage(service, headers),
  });

/** A session as the page holds it. */
export async function sessionOf(service: FakeService, access: 'full' | 'look' = 'full'): Promise<Session> {
  const { json, headers } = await redeem(service, await ticketOf(service, access));
  const [kept = ''] = headers['set-cookie'] as string[];
  return { cookie: kept.split(';')[0] ?? '', half: json.half };
}

/** Asks a row as the page does. */
export const asPage = (
  service: FakeService,
  { cookie, half }: Partial<Session>,
  asked: { readonly method?: string; readonly path: string; readonly body?: unknown; readonly headers?: Headers },
): Promise<Got> =>
  ask(service, {
    ...asked,
    path: `${ADMIN}${asked.path}`,
    headers: fromPage(service, { cookie, 'x-sandbox-page': half, ...asked.headers }),
  });
