import { listOps } from './list.ts';
import { pruneOps } from './prune.ts';
import { resolveOp } from './resolve.ts';
import { resumeOp } from './resume.ts';
import { showOp } from './show.ts';

export const OP_COMMANDS = [listOps, showOp, resumeOp, resolveOp, pruneOps];
