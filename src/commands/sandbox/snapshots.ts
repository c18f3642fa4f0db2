/** Snapshots, export and import: the whole state of a sandbox kept and put back. */

import type { Context, Restored, Shown } from '../../cli/context.ts';
import { columnsOf, countOf } from '../../cli/listing.ts';
import { argument, local, tells } from '../../cli/parsing/flag.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { RESTORED, SNAPSHOT, SNAPSHOT_NAME_FIELD } from '../../contract/sandbox/snapshots.ts';
import { CliError } from '../../core/errors.ts';
import { adminCommand, command, runAdmin } from './admin.ts';

const snapshotName = argument(SNAPSHOT_NAME_FIELD);

export const SNAPSHOT_COLUMNS = columnsOf(
  SNAPSHOT,
  'name made_at:2 data_set:3 cards:3 transactions:3 bytes:4 clock:4 seed:5+ whole:2',
  { name: { kind: 'id' }, data_set: 'DATA', whole: 'COMPLETE' },
);

const COLUMNS = columnsOf(RESTORED, 'restored made_at:2 cards:2 transactions:2 webhooks_active:2 wallet_balance', {
  webhooks_active: 'WEBHOOKS',
  wallet_balance: 'WALLET',
});

function showRestored(done: Restored): Shown {
  const { webhooks_active: active } = done;
  // Where deliveries go is as important as what came back, and easily missed.
  const notes = active ? [`What this sandbox delivers goes to ${countOf(active, 'active subscription')}.`] : [];
  return { data: done, noun: 'sandbox', idField: 'made_at', columns: COLUMNS, notes };
}

/** Asks, and puts something in place of everything. Throws `check_failed` where it is damaged: nothing was put back. */
async function replaced(
  ctx: Context,
  { what, hint }: { readonly what: string; readonly hint?: string },
  put: () => Promise<Restored>,
): Promise<Restored> {
  await ctx.ui.confirmed(`Replace everything in ${await ctx.sandbox.named()} by ${what}`);
  const done = await put();
  if (!done.restored)
    throw new CliError('check_failed', {
      message: `${what} cannot be put back: ${done.problems.join('; ')}. Nothing was changed.`,
      ...(hint !== undefined && { hint }),
      outcome: 'refused',
    });
  await (await ctx.journal.admin()).setAsideSandbox();
  return done;
}

export const saveSnapshot = adminCommand({
  path: 'sandbox snapshot save',
  summary: 'Save the whole state of the sandbox under a name',
  about:
    'Holds cards, ledger, events, clock and seed, with a checksum of every file. An older snapshot of that name is replaced; any other file of that name is not touched.',
  operation: 'snapshots.save',
  args: ['name'],
  examples: {
    'Before a risky test': 'sandbox snapshot save before',
    'Before an upgrade': 'sandbox snapshot save upgrade-2',
  },
  noun: 'snapshot',
  idField: 'name',
  columns: SNAPSHOT_COLUMNS,
  says: saved => `Saved ${saved.name}: ${saved.cards} cards, ${saved.transactions} transactions.`,
});

export const listSnapshots = adminCommand({
  path: 'sandbox snapshot list',
  about:
    'COMPLETE says that the manifest is as it was written and that each file has its length. Every byte is checked by snapshot restore.',
  operation: 'snapshots',
  examples: { 'All of them': 'sandbox snapshot list' },
  noun: 'snapshot',
  idField: 'name',
  columns: SNAPSHOT_COLUMNS,
});

export const restoreSnapshot = command({
  path: 'sandbox snapshot restore',
  summary: 'Replace the whole state of the sandbox with a snapshot',
  about:
    'Every checksum is verified first. If one byte differs, that is exit 15, and nothing has changed. The local copy of the built-in sandbox is deleted, its checkpoints with it: books sync makes a new one.',
  operation: 'snapshots.restore',
  ends: { check_failed: 'The snapshot is damaged; nothing has changed.' },
  args: { name: snapshotName },
  examples: { 'Back to where it was': 'sandbox snapshot restore before --yes' },
  async run(ctx, { name }) {
    const about = { what: `the snapshot ${name}`, hint: 'cardwright sandbox snapshot list' };
    return replaced(ctx, about, () => runAdmin(ctx, 'snapshots.restore', { name }));
  },
  show: showRestored,
});

export const removeSnapshot = command({
  path: 'sandbox snapshot remove',
  summary: 'Remove a snapshot',
  answers: { one: { name: tells.text('The snapshot.'), removed: tells.yes('Always true.') } },
  operation: 'snapshots.remove',
  args: { name: snapshotName },
  examples: {
    'One of them': 'sandbox snapshot remove before --yes',
    'Asked first': 'sandbox snapshot remove before',
  },
  async run(ctx, { name }) {
    await ctx.ui.confirmed(`Remove the snapshot ${name}`);
    await runAdmin(ctx, 'snapshots.remove', { name });
    return { name, removed: true };
  },
  columns: 'name removed',
  noun: 'snapshot',
  idField: 'name',
  says: ({ name }) => `Removed ${name}.`,
});

export const exportSandbox = command({
  path: 'sandbox export',
  dryRun: false,
  summary: 'Write the whole state of the sandbox to a file',
  answers: { one: { file: tells.text('File that was written.'), bytes: tells.count('Its size.') } },
  about:
    'The file holds the store and its checksums. Its mode is 0600 because it holds test card data. An older export of that name is replaced; any other file of that name is not touched.',
  reach: 'files',
  ends: {
    not_authenticated: 'The token is not that of the sandbox elsewhere.',
    unreachable: 'The sandbox elsewhere does not answer.',
  },
  args: { file: argument(local('file', 'File to write.')) },
  examples: { 'A copy to hand on': 'sandbox export sandbox.snapshot' },
  async run(ctx, { file }) {
    return { file, bytes: await (await ctx.sandbox.servers()).exportTo(file) };
  },
  columns: 'file bytes',
  noun: 'export',
  idField: 'file',
  says: ({ file, bytes }) => `Wrote ${file}, ${bytes} bytes.`,
});

export const importSandbox = command({
  path: 'sandbox import',
  summary: 'Replace the whole state of the sandbox with an exported file',
  effect: 'irreversible',
  ends: {
    check_failed: 'The file is damaged; nothing has changed.',
    not_authenticated: 'The token is not that of the sandbox elsewhere.',
    outcome_unknown:
      'The whole file was sent, and the sandbox did not answer; it holds the file, or what it held before.',
    unreachable: 'The sandbox elsewhere does not answer.',
  },
  answers: { one: ADMIN_OPERATIONS['snapshots.restore'].returns.shape },
  about: [
    'Every checksum is verified first. If one byte differs, that is exit 15, and nothing has changed.',
    'Webhook subscriptions come along. The sandbox then delivers to the addresses of those that are active; question and answer say how many there are.',
  ],
  args: { file: argument(local('file', 'File of sandbox export; - for standard input.')) },
  examples: {
    'From a file': 'sandbox import sandbox.snapshot --yes',
    'From standard input': 'sandbox import - --yes < sandbox.snapshot',
  },
  async run(ctx, { file }) {
    return replaced(ctx, { what: ctx.files.nameOf(file) }, async () => (await ctx.sandbox.servers()).importFrom(file));
  },
  show: showRestored,
});
