/** A name or an id that nobody has is answered with the command that lists those that are there. */
import { expect, it } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';
import { world } from '../support/world.ts';

const ROWS: readonly [line: string, hint: string][] = [
  ['sandbox snapshot restore nowhere --yes', 'sandbox snapshot list'],
  ['sandbox snapshot diff nowhere', 'sandbox snapshot list'],
  ['sandbox snapshot remove nowhere --yes', 'sandbox snapshot list'],
  ['sandbox faults remove flt_9', 'sandbox faults list'],
  ['sandbox deliveries show del_9', 'sandbox deliveries list'],
  ['sandbox why txn_9', 'tx list'],
  ['sandbox requests req_9', 'sandbox requests'],
  ['sandbox timeline card_9', 'cards list'],
  ['sandbox simulate authorize --card card_9 --amount 5', 'cards list'],
  ['sandbox simulate settle txn_9', 'tx list --type authorization'],
  ['webhooks get wh_9', 'webhooks list'],
  ['webhooks delete wh_9 --yes', 'webhooks list'],
  ['sandbox deliveries rotate wh_9', 'webhooks list'],
  ['profiles show nobody', 'profiles list'],
  ['cards get card_9', 'cards list'],
];

it('is answered with 5 and the command that lists them', async () => {
  await using here = await world();
  for (const [line, hint] of ROWS) {
    const { code, err } = await here.run(line);
    const tried = err.split('\n').find(each => each.startsWith('  try: '));
    expect([line, code, tried]).toEqual([line, 5, `  try: cardwright ${hint}`]);
  }
});

/** Deposits and runs of scenarios are listed nowhere. */
const NOT_LISTED = ['deposit_id', 'run_id'];

it('every parameter of a path is in a row above, or is listed nowhere', () => {
  const rows: readonly Operation[] = [...Object.values(ADMIN_OPERATIONS), ...Object.values(OPERATIONS)];
  const parameters = new Set(rows.flatMap(({ params = {} }) => Object.keys(params)));
  expect([...parameters].sort()).toEqual(
    [
      ...NOT_LISTED,
      ...['authorization_id', 'card_id', 'challenge_id', 'delivery_id', 'fault_id', 'name', 'request_id'],
      ...['transaction_id', 'webhook_id'],
    ].sort(),
  );
});
