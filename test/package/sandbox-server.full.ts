/** The same as `sandbox-server.test.ts`, with jobs that end in every way. */
import { serverForTeam } from './sandbox-server.ts';

serverForTeam({ isWhole: true });
