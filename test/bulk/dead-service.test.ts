/** A service that dies, before eight workers; `dead-service.full.ts` has more of them. */
import { deadService } from './dead-service.ts';

deadService({ isWhole: false });
