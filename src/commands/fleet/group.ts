import { applyFleet } from './apply.ts';
import { importFleet } from './import.ts';
import { planFleetFile } from './plan.ts';
import { validateFleet } from './validate.ts';

export const FLEET_COMMANDS = [validateFleet, planFleetFile, applyFleet, importFleet];
