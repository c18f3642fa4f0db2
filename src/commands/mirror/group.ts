import type { Leaves } from '../../cli/parsing/command.ts';

export const MIRROR_COMMANDS: Leaves = {
  'mirror sync': async () => (await import('./sync.ts')).syncMirror,
  'mirror status': async () => (await import('./status.ts')).mirrorState,
  'mirror path': async () => (await import('./path.ts')).mirrorPath,
  'mirror query': async () => (await import('./query.ts')).queryMirror,
  'mirror reset': async () => (await import('./reset.ts')).resetMirror,
};
