/** Types of the calls of the sandbox's admin surface. */
import type { NameIn } from '../calls.ts';
import type { ServiceOf } from '../service.ts';
import type { ADMIN_OPERATIONS } from './admin.ts';

export type AdminOperations = typeof ADMIN_OPERATIONS;
export type AdminName = NameIn<AdminOperations>;
/** The sandbox's control surface. */
export type SandboxAdmin = ServiceOf<AdminOperations>;
