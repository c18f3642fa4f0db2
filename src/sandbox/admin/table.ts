/** Every operation of the control surface and what serves it, scenarios and the page of the inspector here. A missing one does not compile. */
import type { IncomingMessage } from 'node:http';
import { ADMIN_OPERATIONS, type AdminName } from '../../contract/sandbox/admin.ts';
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { TRANSFERS, type Transfer } from '../../contract/sandbox/snapshots.ts';
import { type Fields, found, impossible, Refused } from '../calls/handler.ts';
import { REVEALS } from '../handlers/service.ts';
import { SIMULATIONS } from '../handlers/simulate.ts';
import { type Route, routesOf } from '../http/request.ts';
import type { InspectorSessions } from '../page/inspector-sessions.ts';
import { isoTime } from '../rules/dates.ts';
import type { ScenarioPlayer, ServiceHandlers, ServiceParts, StoreHandlers } from '../service/service.ts';
import { advanceClock } from './advance-clock.ts';
import { DELIVERIES } from './deliveries.ts';
import { HOLDINGS } from './holdings.ts';
import { makeExport, SNAPSHOTS, takeImport } from './snapshots.ts';
import { OF_SERVER, STATE } from './state.ts';
import { TIMELINE } from './timeline.ts';

/** Throws `invalid_request` (409) for a sandbox that plays none. */
function playerOf({ scenarios }: ServiceParts): ScenarioPlayer {
  if (scenarios !== undefined) return scenarios;
  throw impossible('This sandbox plays no scenarios itself: cardwright sandbox simulate run');
}

/** Throws `invalid_request` (409) for a sandbox that shows no page. */
function inspectorOf({ inspector }: ServiceParts): InspectorSessions {
  if (inspector !== undefined) return inspector;
  throw impossible('This sandbox has no page. Start one that has: cardwright sandbox start');
}

/** These take many transactions of their own, or none. */
const SERVICE_HANDLERS = {
  ...OF_SERVER,
  ...SNAPSHOTS,
  'clock.advance': advanceClock,
  stop: ({ onStop, pid }) => {
    if (onStop === undefined) throw impossible('This sandbox is ended where it was started.');
    onStop();
    return { pid };
  },
  scenarios: async parts => ({ data: await playerOf(parts).examples(), page: {} }),

  'scenarios.check': (parts, { text }) => playerOf(parts).check(text),

  'scenarios.play': async (parts, { text }) => {
    const { key, adminToken } = parts;
    const player = playerOf(parts);
    const { problems } = await player.check(text);
    const [first] = problems;
    if (first !== undefined) {
      throw new Refused('invalid_request', `text: line ${first.line}, column ${first.column}: ${first.text}`);
    }
    const run = await player.play(text, { origin: `http://${inspectorOf(parts).host}`, key, adminToken });
    if (run === undefined) throw impossible('A scenario is being played: wait for its end.');
    return run;
  },

  'scenarios.show': (parts, { run_id: id }) =>
    found(playerOf(parts).find(id), 'run of a scenario among the newest', id),

  /** Behind `#`, where it reaches no server and no log of one. */
  'page.tickets': (parts, { access = 'full' }) => {
    const inspector = inspectorOf(parts);
    const { ticket, expiresAt } = inspector.ticket(access);
    return { url: `http://${inspector.host}${PAGE_PATH}#t=${ticket}`, expires_at: isoTime(expiresAt) };
  },

  'page.show': parts => inspectorOf(parts).facts,

  'page.end': parts => ({ ended: inspectorOf(parts).end() }),

  // Loaded when asked for: no command needs them.
  openapi: async () => (await import('../../contract/openapi/document.ts')).openApiDocument(),
  'openapi.sandbox': async ({ version }) =>
    (await import('../../contract/openapi/document.ts')).sandboxOpenApiDocument(version),
} satisfies Partial<ServiceHandlers>;

/** All others but those that are answered without a key, before anything is counted. */
type OfStore = Exclude<AdminName, keyof typeof SERVICE_HANDLERS | 'health' | 'page.session'>;

/** One transaction each, or one moment. */
const STORE_HANDLERS: Pick<StoreHandlers, OfStore> = {
  ...SIMULATIONS,
  ...REVEALS,
  ...STATE,
  ...DELIVERIES,
  ...HOLDINGS,
  ...TIMELINE,
};

/** Routes of the control surface of this sandbox, in the dialect that it speaks. */
export function adminRoutes(parts: ServiceParts): readonly Route[] {
  const [ofStore, ofService] = [STORE_HANDLERS, SERVICE_HANDLERS] as unknown as readonly [
    Readonly<Record<string, (call: object) => unknown>>,
    Readonly<Record<string, (parts: ServiceParts, input: Fields) => Promise<object>>>,
  ];
  const rows = routesOf('admin', ADMIN_OPERATIONS, name => {
    const handler = parts.activeDialect.serving(name, ofStore[name]);
    const service = ofService[name];
    return {
      handler: handler && (call => handler({ ...call, parts })),
      ofService: service && (input => service(parts, input)),
    };
  });
  const files = { export: () => makeExport(parts), import: (request: IncomingMessage) => takeImport(parts, request) };
  return [...rows, ...routesOf('admin', TRANSFERS, name => ({ ofFile: files[name as Transfer] }))];
}
