import { createWebhook } from './create.ts';
import { deleteWebhook } from './delete.ts';
import { getWebhook } from './get.ts';
import { listWebhooks } from './list.ts';
import { updateWebhook } from './update.ts';

export const WEBHOOK_COMMANDS = [createWebhook, listWebhooks, getWebhook, updateWebhook, deleteWebhook];
