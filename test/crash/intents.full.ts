/** The same at every boundary, and where keys are honoured and a resume may send again. */
import { intentSweeps } from './intents.ts';

intentSweeps([
  { honoured: true, step: 1 },
  { honoured: false, step: 1 },
]);
