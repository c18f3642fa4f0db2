/** scenarios, .check, .play, .show, .record; acts: what was done lately, and the same again; page.tickets, .show, .end. */
import { STEP_OPERATIONS } from '../../contract/sandbox/methods.ts';
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { cardOf } from '../account/ledger.ts';
import { found, impossible, Refused } from '../calls/handler.ts';
import type { InspectorSessions } from '../page/inspector-sessions.ts';
import { isoTime } from '../rules/dates.ts';
import type { Act } from '../service/logs.ts';
import type { LookHandlers, ScenarioPlayer, ServiceHandlers, ServiceParts } from '../service/service.ts';

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

  acts: parts => {
    const ofControl = parts.actLog.all().filter(({ surface }) => surface === 'admin');
    const data = ofControl.toReversed().map(({ number, at, by, operation, input, answer }) => {
      const about = [...Object.entries(input), ...Object.entries(answer)].find(([name]) =>
        /_id$|^name$/.test(name),
      )?.[1];
      return { number, at: isoTime(at), by, operation, about: about === undefined ? null : String(about) };
    });
    return { data, page: {} };
  },

  /** Behind `#`, where it reaches no server and no log of one. */
  'page.tickets': (parts, { access = 'full' }) => {
    const inspector = inspectorOf(parts);
    const { ticket, expiresAt } = inspector.ticket(access);
    return { url: `http://${inspector.host}${PAGE_PATH}#t=${ticket}`, expires_at: isoTime(expiresAt) };
  },

  'page.show': parts => inspectorOf(parts).facts,

  'page.end': parts => ({ ended: inspectorOf(parts).end() }),
} satisfies Partial<ServiceHandlers>;

export const RECORDS = {
  'scenarios.record': look => {
    const { card_id: card, after = 0 } = look.input;
    if (card !== undefined) cardOf(look, card);
    const { actLog } = look.parts;
    const all = actLog.all().filter(({ number, operation }) => number > after && !operation.startsWith('scenarios.'));
    const wanted = card === undefined ? all : actsOf(card, all);
    return { ...scenarioText('Recorded', wanted), last: actLog.count };
  },
} satisfies Partial<LookHandlers>;

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

// Writes a scenario from what was done: one step each, ids that a step made as references to its answer.

/** What was done, as it was asked and with what came of it. */
interface DoneStep {
  readonly operation: string;
  /** In wire form. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Members of the answer that are text: ids and outcomes. */
  readonly answer: Readonly<Record<string, string>>;
}

/** JSON is YAML, so that text of any kind stands in it as it is. */
function scenarioText(title: string, done: readonly DoneStep[]): { readonly text: string; readonly steps: number } {
  const steps = done.filter(({ operation }) => STEP_OPERATIONS.has(operation));
  const made = new Map<string, { readonly step: number; readonly fields: string[] }>();
  const used = new Set<number>();
  const lines = steps.map(({ operation, input, answer }, step) => {
    const fields = written(input, (value, name) => {
      const found = made.get(value);
      if (found === undefined) return value.startsWith('$') ? `$${value}` : value;
      used.add(found.step);
      return `$step${found.step + 1}.${found.fields.includes(name) ? name : found.fields[0]}`;
    });
    for (const [field, id] of Object.entries(answer).filter(([name]) => /(?:^|_)id$/.test(name))) {
      const known = made.get(id) ?? { step, fields: [] };
      if (known.step === step) known.fields.push(field);
      made.set(id, known);
    }
    return { operation, fields, expect: expected(answer) };
  });
  const rows = lines.flatMap(({ operation, fields, expect }, step) => [
    `  - ${operation}: ${JSON.stringify(fields)}`,
    ...(used.has(step) ? [`    as: step${step + 1}`] : []),
    ...(expect === undefined ? [] : [`    expect: ${JSON.stringify(expect)}`]),
  ]);
  return { text: [`scenario: ${JSON.stringify(title)}`, 'steps:', ...rows, ''].join('\n'), steps: steps.length };
}

/** A value with other texts; `text` is told the name of the field too. */
function written(value: unknown, text: (value: string, name: string) => string, name = ''): unknown {
  if (typeof value === 'string') return text(value, name);
  if (Array.isArray(value)) return value.map(entry => written(entry, text, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, entry]) => [member, written(entry, text, member)]));
}

/** What it came to is what it should come to again. */
function expected({ outcome, decline_reason: reason }: DoneStep['answer']): object | undefined {
  if (outcome === undefined) return undefined;
  return reason === undefined ? { outcome } : { outcome, decline_reason: reason };
}

/** Throws `invalid_request` (409) for a sandbox that shows no page. */
function inspectorOf({ inspector }: ServiceParts): InspectorSessions {
  if (inspector !== undefined) return inspector;
  throw impossible('This sandbox has no page. Start one that has: cardwright sandbox start');
}
