/** scenarios, .check, .play, .show, .record; acts: what was done lately, and the same again. */
import { cardOf } from '../account/acting.ts';
import { impossible, Refused } from '../calls/handler.ts';
import { isoTime } from '../rules/dates.ts';
import type { Act } from '../service/act-log.ts';
import type { ScenarioPlayer, ScenarioRun } from '../service/scenario-player.ts';
import type { MomentHandler, ServiceParts, TracelessHandlers } from '../service/service.ts';
import { scenarioText } from './scenario-text.ts';

/** Throws `invalid_request` (409) for a sandbox that plays none. */
function playerOf({ scenarios }: ServiceParts): ScenarioPlayer {
  if (scenarios !== undefined) return scenarios;
  throw impossible('This sandbox plays no scenarios itself: cardwright sandbox simulate run');
}

export const listScenarios: TracelessHandlers['scenarios'] = async ({ parts }) => ({
  data: await playerOf(parts).examples(),
  page: {},
});

export const checkScenario: TracelessHandlers['scenarios.check'] = ({ parts }, { text }) => playerOf(parts).check(text);

export async function playScenario(parts: ServiceParts, { text }: { readonly text: string }): Promise<ScenarioRun> {
  const { pageDoor, key, adminToken } = parts;
  const player = playerOf(parts);
  if (pageDoor === undefined)
    throw impossible('This sandbox plays no scenarios itself: cardwright sandbox simulate run');
  const { problems } = await player.check(text);
  const [first] = problems;
  if (first !== undefined) {
    throw new Refused('invalid_request', `text: line ${first.line}, column ${first.column}: ${first.text}`);
  }
  const run = await player.play(text, { origin: `http://${pageDoor.host}`, key, adminToken });
  if (run === undefined) throw impossible('A scenario is being played: wait for its end.');
  return run;
}

export const showScenario: TracelessHandlers['scenarios.show'] = async ({ parts }, { run_id: id }) => {
  const run = playerOf(parts).find(id);
  if (run === undefined) throw new Refused('not_found', `no run ${id} of a scenario among the newest`);
  return run;
};

export const recordScenario: MomentHandler<'scenarios.record'> = async (moment, { card_id: card, after = 0 }) => {
  if (card !== undefined) await cardOf(moment, card);
  const { actLog } = moment.parts;
  const all = actLog.all().filter(({ number, operation }) => number > after && !operation.startsWith('scenarios.'));
  const wanted = card === undefined ? all : actsOf(card, all);
  return { ...scenarioText('Recorded', wanted), last: actLog.last };
};

/** What was done with a card, and with what came of that: its holds, its challenges. */
function actsOf(card: string, acts: readonly Act[]): readonly Act[] {
  const known = new Set([card]);
  return acts.filter(({ input, answer }) => {
    const made = Object.entries(answer).filter(([name]) => /(?:^|_)id$/.test(name));
    const isOfCard = [...Object.values(input), ...made.map(([, id]) => id)].some(value => known.has(String(value)));
    // A card names its BIN too, which others have as well.
    if (isOfCard) for (const [name, id] of made) if (name !== 'bin_id') known.add(id);
    return isOfCard;
  });
}

export const listActs: TracelessHandlers['acts'] = async ({ parts }) => {
  const ofControl = parts.actLog.all().filter(({ surface }) => surface === 'admin');
  const data = ofControl.toReversed().map(({ number, at, by, operation, input, answer }) => {
    const about = [...Object.entries(input), ...Object.entries(answer)].find(([name]) => /_id$|^name$/.test(name))?.[1];
    return { number, at: isoTime(at), by, operation, about: about === undefined ? null : String(about) };
  });
  return { data, page: {} };
};
