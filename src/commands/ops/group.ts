import { listOps } from './list.ts';
import { lockedOps } from './locks.ts';
import { pruneOps } from './prune.ts';
import { resolveOp } from './resolve.ts';
import { resumeOp } from './resume.ts';
import { showOp } from './show.ts';
import { takeoverOp } from './takeover.ts';

export const OP_COMMANDS = [listOps, showOp, resumeOp, resolveOp, lockedOps, takeoverOp, pruneOps];
