import type { Leaves } from '../../cli/parsing/command.ts';

export const CARD_COMMANDS: Leaves = {
  'cards create': async () => (await import('./create.ts')).createCard,
  'cards list': async () => (await import('./list.ts')).listCards,
  'cards get': async () => (await import('./get.ts')).getCard,
  'cards search': async () => (await import('./search.ts')).searchCards,
  'cards details': async () => (await import('./details.ts')).cardDetails,
  'cards exec': async () => (await import('./exec.ts')).cardExec,
  'cards lease': async () => (await import('./lease.ts')).leaseCard,
  'cards fund': async () => (await import('./fund.ts')).fundCard,
  'cards withdraw': async () => (await import('./withdraw.ts')).withdrawCard,
  'cards freeze': async () => (await import('./freeze.ts')).freezeCards,
  'cards unfreeze': async () => (await import('./unfreeze.ts')).unfreezeCards,
  'cards terminate': async () => (await import('./terminate.ts')).terminateCards,
};
