import { exportAudit } from './export.ts';
import { listAudit } from './list.ts';
import { verifyAudit } from './verify.ts';

export const AUDIT_COMMANDS = [listAudit, verifyAudit, exportAudit];
