import { checkContract } from './check.ts';
import { printOpenApi } from './openapi.ts';
import { showContract } from './show.ts';

export const CONTRACT_COMMANDS = [checkContract, showContract, printOpenApi];
