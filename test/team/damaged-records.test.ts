/** Damaged records stop nobody but their own operation; `damaged-records.full.ts` has both ways to end it. */
import { damagedRecords } from './damaged-records.ts';

damagedRecords({ isWhole: false });
