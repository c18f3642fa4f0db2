import { mirrorPath } from './path.ts';
import { queryMirror } from './query.ts';
import { resetMirror } from './reset.ts';
import { mirrorState } from './status.ts';
import { syncMirror } from './sync.ts';

export const MIRROR_COMMANDS = [syncMirror, mirrorState, mirrorPath, queryMirror, resetMirror];
