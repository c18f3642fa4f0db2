/** Whether reading shows that a write has not happened. */
import { sameUrl, transferShown } from '../contract/evidence.ts';
import { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import type { RequestFacts } from './decode.ts';
import { paramsOf, type ReadBackParts, readBalances, readWallet } from './readings.ts';

/** Whether card and wallet show that a refused transfer has not happened; false where they cannot be read. */
async function isUnmoved({ target, input, evidence }: RequestFacts, { read }: ReadBackParts): Promise<boolean> {
  const { transfer } = target.row;
  if (transfer === undefined || evidence?.before === undefined) return false;
  try {
    const after = await readBalances(read, input['card_id']);
    return transferShown({ transfer, amount: input['amount'] as Cents }, evidence, after) === 'unchanged';
  } catch (failed) {
    if (failed instanceof CliError) return false;
    throw failed;
  }
}

/**
 * Whether reading shows that a write has not happened: the state of its card, card and wallet, the list of subscriptions;
 * of a create the wallet, where nothing else moves it. False where that cannot be told.
 */
export async function isUndone(asked: RequestFacts, settling: ReadBackParts): Promise<boolean> {
  const { leadsTo, makes, transfer } = asked.target.row;
  if (transfer !== undefined) return isUnmoved(asked, settling);
  if (makes === 'webhook') return isNotSubscribed(asked, settling);
  if (makes === 'card') return isUnspent(asked, settling);
  if (leadsTo === undefined) return false;
  try {
    const { [leadsTo.field]: is } = await settling.read(asked.target.row.readBack ?? '', paramsOf(asked));
    return typeof is === 'string' && is !== leadsTo.value;
  } catch (failed) {
    if (failed instanceof CliError) return false;
    throw failed;
  }
}

async function isUnspent({ evidence }: RequestFacts, { read }: ReadBackParts): Promise<boolean> {
  if (evidence?.wallet === undefined) return false;
  try {
    return (await readWallet(read)) === evidence.wallet;
  } catch (failed) {
    if (failed instanceof CliError) return false;
    throw failed;
  }
}

/** Whether the list shows no subscription for the address of a refused create; false where it cannot be read. */
async function isNotSubscribed({ input }: RequestFacts, { read }: ReadBackParts): Promise<boolean> {
  try {
    const { data } = await read('webhooks.list', {});
    return Array.isArray(data) && !data.some(each => isObject(each) && sameUrl(each['url'], input['url']));
  } catch (failed) {
    if (failed instanceof CliError) return false;
    throw failed;
  }
}
