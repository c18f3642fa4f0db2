/** The clock of the sandbox (docs/design/sandbox.md, section 6). */
import { choice, integer, list, must, nullable, number, object, text, time } from '../field.ts';
import { one, operation } from '../operation.ts';
import { change, described, ours, traceless } from './basis.ts';

export const CLOCK_MODES = ['real', 'offset', 'frozen', 'scaled'] as const;

const CLOCK = {
  mode: must(choice(CLOCK_MODES, described('How it goes.'))),
  now: must(time(described('What it shows.'))),
  rate: must(number(described('Its seconds in one real second; 0 when it stands.'))),
} as const;

const MOVING_CLOCK = {
  ...CLOCK,
  moving_to: nullable(time(described('Where it is being moved to; null when nobody moves it.'))),
  awaited_deliveries: integer(
    described('Attempts of deliveries that are under way, for which its move waits; 0 when nobody moves it.'),
  ),
} as const;

const FIRED = {
  due_at: must(time(described('When it was due, and happened.'))),
  kind: must(text(described('What happened.'))),
  ref: must(text(described('What it happened to.'))),
  error: text(described('Why it could not happen; then nothing changed, and the timer is parked.')),
} as const;

export const CLOCK_OPERATIONS = {
  'clock.show': operation({
    ...traceless,
    summary: 'Show the clock of the sandbox',
    path: '/clock',
    returns: one(MOVING_CLOCK, ours),
  }),
  'clock.set': operation({
    ...change,
    summary: 'Set the clock of the sandbox',
    method: 'PUT',
    path: '/clock',
    body: {
      mode: must(choice(CLOCK_MODES, described('Mode of the clock.'))),
      at: time(described('What it shall show now; what it shows when left out.')),
      rate: number({ ...described('Seconds in one real second, for a scaled clock.'), min: 0.001, max: 1_000_000 }),
    },
    returns: one(CLOCK, ours),
  }),
  'clock.advance': operation({
    ...change,
    summary: 'Move the clock forward; what is due on the way happens at its time, in order',
    path: '/clock/advance',
    body: {
      by: text({ ...described('How far, such as 7d, 36h or 1d12h.'), maxLength: 40 }),
      to: time(described('Until when.')),
    },
    returns: one(
      {
        mode: CLOCK.mode,
        now: CLOCK.now,
        fired: must(
          list(object(FIRED, described('One thing that happened.')), described('What happened on the way, in order.')),
        ),
      },
      ours,
    ),
  }),
} as const;
