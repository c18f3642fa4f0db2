import type { Leaves } from '../../cli/parsing/command.ts';

export const CARD_COMMANDS: Leaves = {
  'cards create': async () => (await import('./create.ts')).createCard,
  'cards list': async () => (await import('./cards.ts')).listCards,
  'cards get': async () => (await import('./cards.ts')).getCard,
  'cards search': async () => (await import('./cards.ts')).searchCards,
  'cards details': async () => (await import('./details.ts')).cardDetails,
  'cards exec': async () => (await import('./details.ts')).cardExec,
  'cards lease': async () => (await import('./lease.ts')).leaseCard,
  'cards fund': async () => (await import('./money.ts')).fundCard,
  'cards withdraw': async () => (await import('./money.ts')).withdrawCard,
  'cards freeze': async () => (await import('./state.ts')).freezeCards,
  'cards unfreeze': async () => (await import('./state.ts')).unfreezeCards,
  'cards terminate': async () => (await import('./state.ts')).terminateCards,
};
