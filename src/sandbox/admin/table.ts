/** Every operation of the control surface and what serves it. A missing one does not compile. */
import { type AdminHandlers, impossible } from '../calls/handler.ts';
import { REVEALS } from '../handlers/cards.ts';
import { SIMULATIONS } from '../handlers/simulate.ts';
import type { Fields, Route } from '../http/request.ts';
import type { LookHandlers, ServiceHandlers, ServiceParts } from '../service/service.ts';
import { advanceClock } from './advance-clock.ts';
import { DELIVERIES, DELIVERY_LOOKS } from './deliveries.ts';
import { HOLDINGS } from './holdings.ts';
import { REQUESTS } from './requests.ts';
import { RECORDS, SCENARIOS } from './scenarios.ts';
import { DIFFERENCES, SNAPSHOTS } from './snapshots.ts';
import { OF_SERVER, STATE, STATE_LOOKS } from './state.ts';
import { TIMELINE } from './timeline.ts';

/** One transaction each. */
export const ADMIN_HANDLERS: AdminHandlers = { ...SIMULATIONS, ...REVEALS, ...STATE, ...DELIVERIES };

/** One moment each: they change nothing at all. */
export const LOOK_HANDLERS: LookHandlers = {
  ...STATE_LOOKS,
  ...DELIVERY_LOOKS,
  ...HOLDINGS,
  ...REQUESTS,
  ...RECORDS,
  ...TIMELINE,
};

/** These take many transactions of their own, or none. */
export const SERVICE_HANDLERS = {
  ...OF_SERVER,
  ...SNAPSHOTS,
  ...DIFFERENCES,
  ...SCENARIOS,
  'clock.advance': advanceClock,
  stop: ({ onStop, pid }: ServiceParts) => {
    if (onStop === undefined) throw impossible('This sandbox is ended where it was started.');
    onStop();
    return { pid };
  },
  // Loaded when asked for: no command needs them.
  openapi: async () => (await import('../../contract/openapi/document.ts')).openApiDocument(),
  'openapi.sandbox': async ({ version }: ServiceParts) =>
    (await import('../../contract/openapi/sandbox.ts')).sandboxOpenApiDocument(version),
} satisfies ServiceHandlers;

type ServiceHandler = (parts: ServiceParts, input: Fields) => Promise<object>;

/** What serves an operation that takes the whole service; undefined for every other. */
export function serviceHandlerOf({ surface, name }: Pick<Route, 'surface' | 'name'>) {
  const table = SERVICE_HANDLERS as unknown as Readonly<Record<string, ServiceHandler>>;
  return surface === 'admin' ? table[name] : undefined;
}
