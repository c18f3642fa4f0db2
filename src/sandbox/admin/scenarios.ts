/** scenarios, .check, .play, .show; page.tickets, .show, .end. */
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { found, impossible, Refused } from '../calls/handler.ts';
import type { InspectorSessions } from '../page/inspector-sessions.ts';
import { isoTime } from '../rules/dates.ts';
import type { ScenarioPlayer, ServiceHandlers, ServiceParts } from '../service/service.ts';

/** Throws `invalid_request` (409) for a sandbox that plays none. */
function playerOf({ scenarios }: ServiceParts): ScenarioPlayer {
  if (scenarios !== undefined) return scenarios;
  throw impossible('This sandbox plays no scenarios itself: cardwright sandbox simulate run');
}

export const SCENARIOS = {
  scenarios: async parts => ({
    data: await playerOf(parts).examples(),
    page: {},
  }),

  'scenarios.check': (parts, { text }) => playerOf(parts).check(text),

  'scenarios.play': async (parts, { text }) => {
    const { inspector, key, adminToken } = parts;
    const player = playerOf(parts);
    if (inspector === undefined)
      throw impossible('This sandbox plays no scenarios itself: cardwright sandbox simulate run');
    const { problems } = await player.check(text);
    const [first] = problems;
    if (first !== undefined) {
      throw new Refused('invalid_request', `text: line ${first.line}, column ${first.column}: ${first.text}`);
    }
    const run = await player.play(text, { origin: `http://${inspector.host}`, key, adminToken });
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
} satisfies Partial<ServiceHandlers>;

/** Throws `invalid_request` (409) for a sandbox that shows no page. */
function inspectorOf({ inspector }: ServiceParts): InspectorSessions {
  if (inspector !== undefined) return inspector;
  throw impossible('This sandbox has no page. Start one that has: cardwright sandbox start');
}
