/** A year of 100,000 lines with hostile names, through every writer and before every judge. */
import { judgesAgree } from './judges.ts';
import { long } from './month.ts';

await judgesAgree(long(100_000));
