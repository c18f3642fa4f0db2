/** The whole of `damaged-records.test.ts`. */
import { damagedRecords } from './damaged-records.ts';

damagedRecords({ isWhole: true });
