import type { Leaves } from '../../cli/parsing/command.ts';

export const WEBHOOK_COMMANDS: Leaves = {
  'webhooks create': async () => (await import('./subscriptions.ts')).createWebhook,
  'webhooks list': async () => (await import('./subscriptions.ts')).listWebhooks,
  'webhooks get': async () => (await import('./subscriptions.ts')).getWebhook,
  'webhooks update': async () => (await import('./subscriptions.ts')).updateWebhook,
  'webhooks delete': async () => (await import('./subscriptions.ts')).deleteWebhook,
  'webhooks listen': async () => (await import('./listen.ts')).listenWebhooks,
  'webhooks expect': async () => (await import('./listen.ts')).expectEvents,
  'webhooks verify': async () => (await import('./verify.ts')).verifySignature,
  'webhooks sign': async () => (await import('./verify.ts')).signPayload,
  'webhooks events': async () => (await import('./subscriptions.ts')).listEvents,
};
