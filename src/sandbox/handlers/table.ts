/** Every operation of the service and the handler that serves it. A missing one does not compile. */
import type { Handlers } from '../calls/handler.ts';
import { ACCOUNT_HANDLERS } from './account.ts';
import { CARDS } from './cards.ts';

export const HANDLERS: Handlers = { ...CARDS, ...ACCOUNT_HANDLERS };
