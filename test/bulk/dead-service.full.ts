/** The whole of `dead-service.test.ts`. */
import { deadService } from './dead-service.ts';

deadService({ isWhole: true });
