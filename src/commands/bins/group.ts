import { getBin } from './get.ts';
import { listBins } from './list.ts';
import { pickBin } from './pick.ts';

export const BIN_COMMANDS = [listBins, getBin, pickBin];
