import { createCard } from './create.ts';
import { cardDetails } from './details.ts';
import { cardExec } from './exec.ts';
import { freezeCards } from './freeze.ts';
import { fundCard } from './fund.ts';
import { getCard } from './get.ts';
import { leaseCard } from './lease.ts';
import { listCards } from './list.ts';
import { listPresets } from './presets/list.ts';
import { removePreset } from './presets/remove.ts';
import { savePreset } from './presets/save.ts';
import { searchCards } from './search.ts';
import { terminateCards } from './terminate.ts';
import { unfreezeCards } from './unfreeze.ts';
import { withdrawCard } from './withdraw.ts';

export const CARD_COMMANDS = [
  createCard,
  listCards,
  getCard,
  searchCards,
  cardDetails,
  cardExec,
  leaseCard,
  fundCard,
  withdrawCard,
  freezeCards,
  unfreezeCards,
  terminateCards,
  savePreset,
  listPresets,
  removePreset,
];
