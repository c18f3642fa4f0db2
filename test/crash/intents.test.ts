/** Commands with an intent before a service that ignores keys: the sharpest of the sweeps. */
import { intentSweeps } from './intents.ts';

intentSweeps([{ honoured: false }]);
