import { applyPolicy } from './apply.ts';
import { checkPolicy } from './check.ts';

export const POLICY_COMMANDS = [checkPolicy, applyPolicy];
