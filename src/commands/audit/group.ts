import type { Leaves } from '../../cli/parsing/command.ts';

export const AUDIT_COMMANDS: Leaves = {
  'audit list': async () => (await import('./list.ts')).listAudit,
  'audit verify': async () => (await import('./verify.ts')).verifyAudit,
  'audit export': async () => (await import('./export.ts')).exportAudit,
};
