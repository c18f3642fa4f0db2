/** The guide of a server, its unit and its containers, and jobs that fail or run side by side. */
import { serverForTeam } from './sandbox-server.ts';

serverForTeam({ isWhole: false });
