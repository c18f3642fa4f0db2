import type { Leaves } from '../../cli/parsing/command.ts';

export const WEBHOOK_COMMANDS: Leaves = {
  'webhooks create': async () => (await import('./create.ts')).createWebhook,
  'webhooks list': async () => (await import('./list.ts')).listWebhooks,
  'webhooks get': async () => (await import('./get.ts')).getWebhook,
  'webhooks update': async () => (await import('./update.ts')).updateWebhook,
  'webhooks delete': async () => (await import('./delete.ts')).deleteWebhook,
  'webhooks listen': async () => (await import('./listen.ts')).listenWebhooks,
  'webhooks expect': async () => (await import('./expect.ts')).expectEvents,
  'webhooks verify': async () => (await import('./verify.ts')).verifySignature,
  'webhooks sign': async () => (await import('./sign.ts')).signPayload,
  'webhooks events': async () => (await import('./events.ts')).listEvents,
};
