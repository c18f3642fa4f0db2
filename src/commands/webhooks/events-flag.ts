/** Event names as a flag takes them: a misspelled one would subscribe to nothing. */

import { usage } from '../../cli/parsing/values.ts';
import { EVENTS, eventsMatching } from '../../contract/events.ts';
import { nearest } from '../../core/nearest.ts';

/** The names as they are. Throws `usage` with the nearest one for a name the interface does not have. */
export function checkEvents(names: readonly string[]): readonly string[] {
  const known = Object.keys(EVENTS);
  for (const name of names) {
    if (name === '*' || known.includes(name)) continue;
    const near = nearest(name, known);
    const meant = near === undefined ? ` Known: * ${known.join(' ')}` : ` Did you mean ${JSON.stringify(near)}?`;
    throw usage(`unknown event ${JSON.stringify(name)}.${meant}`);
  }
  return names;
}

/** Patterns such as `card.*`. Throws `usage` for one that means no event. */
export function checkPatterns(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) if (eventsMatching(pattern).length === 0) checkEvents([pattern]);
  return patterns;
}
