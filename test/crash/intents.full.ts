/** The same where keys are honoured, and a resume may send again. */
import { intentSweeps } from './intents.ts';

intentSweeps([{ honoured: true }]);
