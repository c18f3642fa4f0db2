/** page.tickets, page.show, page.end: the way into the inspector in a browser. */
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { impossible } from '../calls/handler.ts';
import type { PageDoor } from '../page/door.ts';
import { isoTime } from '../rules/dates.ts';
import type { ServiceParts, TracelessHandlers } from '../service/service.ts';

/** Throws `invalid_request` (409) for a sandbox that shows no page. */
function doorOf({ pageDoor }: ServiceParts): PageDoor {
  if (pageDoor !== undefined) return pageDoor;
  throw impossible('This sandbox has no page. Start one that has: cardwright sandbox start');
}

/** Behind `#`, where it reaches no server and no log of one. */
export const makeTicket: TracelessHandlers['page.tickets'] = async ({ parts }, { access = 'full' }) => {
  const door = doorOf(parts);
  const { ticket, expiresAt } = door.ticket(access);
  return { url: `http://${door.host}${PAGE_PATH}#t=${ticket}`, expires_at: isoTime(expiresAt) };
};

export const showPage: TracelessHandlers['page.show'] = async ({ parts }) => {
  const { sessions, opened, ticketWaits } = doorOf(parts);
  return { sessions, opened, ticket_waits: ticketWaits };
};

export const endSessions: TracelessHandlers['page.end'] = async ({ parts }) => ({ ended: doorOf(parts).end() });
