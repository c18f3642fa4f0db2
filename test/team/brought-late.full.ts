/** Every order of brought-late.ts, of a single operation and of a file. */
import { broughtLate, FILE, PUSHED, SINGLE, type Step } from './brought-late.ts';

const ORDERS: readonly (readonly Step[])[] = [
  // Nothing was lost.
  ['ana pushes', 'failover', ...PUSHED],
  ['ana repeats it', 'failover', ...PUSHED],
  ['failover', ...PUSHED],
  ['ana pushes', 'ana pushes', 'failover', 'ana pushes', 'ana pushes', 'ben pushes', 'her laptop pushes'],
  ['ana pushes', 'failover', ...PUSHED.toReversed()],
  ['ana pushes', 'ana resumes', 'failover', ...PUSHED],
  ['ana pushes', 'her laptop resumes', 'failover', ...PUSHED],
  ['ana pushes', 'ben takes it over', 'failover', ...PUSHED],
  ['ben takes it over', 'ana pushes', 'failover', ...PUSHED],
  // The outcome that was brought is lost, or what came behind it.
  ['the standby is cut off', 'ana pushes', 'failover', ...PUSHED],
  ['the standby is cut off', 'ana pushes', 'ana resumes', 'failover', ...PUSHED],
  ['ana pushes', 'the standby is cut off', 'ana resumes', 'failover', ...PUSHED],
  ['ana pushes', 'the standby is cut off', 'her laptop resumes', 'failover', ...PUSHED],
  ['ana pushes', 'the standby is cut off', 'her laptop resumes', 'failover', ...PUSHED.toReversed()],
  // Who has taken it over is lost.
  ['ana pushes', 'the standby is cut off', 'ben takes it over', 'failover', ...PUSHED],
  ['ana pushes', 'the standby is cut off', 'ben takes it over', 'failover', ...PUSHED.toReversed()],
  ['the standby is cut off', 'ben takes it over', 'failover', ...PUSHED],
  ['the standby is cut off', 'ben takes it over', 'ana pushes', 'failover', ...PUSHED],
  ['the standby is cut off', 'ben takes it over', 'ana pushes', 'failover', ...PUSHED.toReversed()],
  ['the standby is cut off', 'her laptop resumes', 'ana pushes', 'failover', ...PUSHED],
  ['the standby is cut off', 'her laptop resumes', 'ana pushes', 'failover', ...PUSHED.toReversed()],
  // Twice.
  ['ana pushes', 'failover', ...PUSHED, 'failover', ...PUSHED],
];

broughtLate(ORDERS.flatMap(steps => ([SINGLE, FILE] as const).map(line => ({ line, steps }))));
