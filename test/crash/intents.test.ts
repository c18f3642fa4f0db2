/** Commands with an intent before a service that ignores keys, at every twelfth boundary: the sharpest of the sweeps. */
import { intentSweeps } from './intents.ts';

intentSweeps([{ honoured: false, step: 12 }]);
