/** The clock of the sandbox (docs/design/sandbox.md, section 6). */
import { choice, list, must, number, object, text, time } from '../field.ts';
import { one, operation } from '../operation.ts';
import { change, look, ours, said } from './basis.ts';

export const CLOCK_MODES = ['real', 'offset', 'frozen', 'scaled'] as const;

const CLOCK = {
  mode: must(choice(CLOCK_MODES, said('How it goes.'))),
  now: must(time(said('What it shows.'))),
  rate: must(number(said('Its seconds in one real second; 0 when it stands.'))),
} as const;

const FIRED = {
  due_at: must(time(said('When it was due, and happened.'))),
  kind: must(text(said('What happened.'))),
  ref: must(text(said('What it happened to.'))),
  error: text(said('Why it could not happen; then nothing changed, and the timer is parked.')),
} as const;

export const CLOCK_OPERATIONS = {
  'clock.show': operation({
    ...look,
    summary: 'Show the clock of the sandbox',
    path: '/clock',
    returns: one(CLOCK, ours),
  }),
  'clock.set': operation({
    ...change,
    summary: 'Set the clock of the sandbox',
    method: 'PUT',
    path: '/clock',
    body: {
      mode: must(choice(CLOCK_MODES, said('Mode of the clock.'))),
      at: time(said('What it shall show now; what it shows when left out.')),
      rate: number({ ...said('Seconds in one real second, for a scaled clock.'), min: 0.001, max: 1_000_000 }),
    },
    returns: one(CLOCK, ours),
  }),
  'clock.advance': operation({
    ...change,
    summary: 'Move the clock forward; what is due on the way happens at its time, in order',
    path: '/clock/advance',
    body: {
      by: text({ ...said('How far, such as 7d, 36h or 1d12h.'), maxLength: 40 }),
      to: time(said('Until when.')),
    },
    returns: one(
      {
        mode: CLOCK.mode,
        now: CLOCK.now,
        fired: must(list(object(FIRED, said('One thing that happened.')), said('What happened on the way, in order.'))),
      },
      ours,
    ),
  }),
} as const;
