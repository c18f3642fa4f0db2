/** The guide of a server, its unit and its containers; `sandbox-server.full.ts` has its jobs. */
import { serverForTeam } from './sandbox-server.ts';

serverForTeam({ isWhole: false });
