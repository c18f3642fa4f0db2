/** Each command, struck by each outage at each moment, and typed again by its operator and by a colleague. */
import { OUTAGES } from './outage.ts';
import { COMMANDS, MOMENTS, outages, type Story, TYPISTS } from './outages.ts';

outages(
  COMMANDS.flatMap(command =>
    MOMENTS.flatMap(moment =>
      OUTAGES.flatMap(outage => TYPISTS.map((again): Story => ({ command, moment, outage, again }))),
    ),
  ),
);
