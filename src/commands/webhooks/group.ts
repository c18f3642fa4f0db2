import { createWebhook } from './create.ts';
import { deleteWebhook } from './delete.ts';
import { listEvents } from './events.ts';
import { expectEvents } from './expect.ts';
import { getWebhook } from './get.ts';
import { listWebhooks } from './list.ts';
import { listenWebhooks } from './listen.ts';
import { signPayload } from './sign.ts';
import { updateWebhook } from './update.ts';
import { verifySignature } from './verify.ts';

export const WEBHOOK_COMMANDS = [
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  listenWebhooks,
  expectEvents,
  verifySignature,
  signPayload,
  listEvents,
];
