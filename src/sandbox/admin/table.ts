/** Every operation of the control surface and what serves it. A missing one does not compile. */
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { type AdminHandlers, type AdminName, impossible } from '../calls/handler.ts';
import { REVEALS } from '../handlers/service.ts';
import { SIMULATIONS } from '../handlers/simulate.ts';
import type { Fields, Route } from '../http/request.ts';
import type { LookHandlers, ServiceHandlers, ServiceParts } from '../service/service.ts';
import { advanceClock } from './advance-clock.ts';
import { DELIVERIES, DELIVERY_LOOKS } from './deliveries.ts';
import { HOLDINGS } from './holdings.ts';
import { SCENARIOS } from './scenarios.ts';
import { SNAPSHOTS } from './snapshots.ts';
import { OF_SERVER, STATE, STATE_LOOKS } from './state.ts';
import { TIMELINE } from './timeline.ts';

/** These take many transactions of their own, or none. */
export const SERVICE_HANDLERS = {
  ...OF_SERVER,
  ...SNAPSHOTS,
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
} satisfies Partial<ServiceHandlers>;

/** All others but those that are answered without a key, before anything is counted. */
type OfStore = Exclude<AdminName, keyof typeof SERVICE_HANDLERS | 'health' | 'page.session'>;
type Look = { [N in OfStore]: AdminOperations[N] extends { readonly leavesNoTrace: true } ? N : never }[OfStore];

/** One moment each: they change nothing at all. */
export const LOOK_HANDLERS: Pick<LookHandlers, Look> = {
  ...STATE_LOOKS,
  ...DELIVERY_LOOKS,
  ...HOLDINGS,
  ...TIMELINE,
};

/** One transaction each. */
export const ADMIN_HANDLERS: Pick<AdminHandlers, Exclude<OfStore, Look>> = {
  ...SIMULATIONS,
  ...REVEALS,
  ...STATE,
  ...DELIVERIES,
};

type ServiceHandler = (parts: ServiceParts, input: Fields) => Promise<object>;

/** What serves an operation that takes the whole service; undefined for every other. */
export function serviceHandlerOf({ surface, name }: Pick<Route, 'surface' | 'name'>) {
  const table = SERVICE_HANDLERS as unknown as Readonly<Record<string, ServiceHandler>>;
  return surface === 'admin' ? table[name] : undefined;
}
