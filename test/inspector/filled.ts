/** A sandbox in which every view has something to show, and what it shows is awkward: long, foreign, forced, repeated. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Inspected } from '../support/browser.ts';

/** Sixty characters in two scripts that are not Latin, and one that is markup. */
export const LONG = '广告 التسويق <b>bold</b> a label as long as one may be, no more';

/** Ids of what was made. */
export interface Filled {
  readonly card: string;
  /** A card with runs of equal purchases. */
  readonly busy: string;
  readonly approved: string;
  readonly decline: string;
  readonly forced: string;
  readonly request: string;
  readonly delivery: string;
}

export async function filled(sandbox: Inspected): Promise<Filled> {
  const { run } = sandbox;
  await run('--sandbox webhooks create --url http://127.0.0.1:9/hook --event * --yes -q');
  const card = await run(`--sandbox cards create --bin auto --amount 50 --label '${LONG}' --yes -q`);
  const busy = await run(
    "--sandbox cards create --bin auto --amount 300 --label '珈琲店 مقهى' --metadata team=ads --yes -q",
  );
  const purchase = (of: string, amount: number, more = '') =>
    run(`sandbox simulate authorize --card ${of} --amount ${amount} -q ${more}`);
  const approved = await purchase(busy, 30, "--merchant 'مقهى البرج'");
  for (let nth = 0; nth < 6; nth += 1) await purchase(busy, 1, '--merchant BURST');
  const decline = await purchase(card, 99, `--merchant '${LONG}'`);
  const forced = await purchase(card, 2, '--decline card_expired');
  await run(`sandbox simulate challenge --card ${card} --amount 9 -q`);
  await run('sandbox snapshot save before -q');
  await purchase(card, 9);
  await run(`--sandbox cards freeze ${busy} --yes -q`);
  const rule = join(sandbox.place.folder, 'rule.json');
  await writeFile(
    rule,
    JSON.stringify({
      match: { operation: 'cards.create', card_id: card },
      phase: 'after_commit',
      action: { kind: 'reset' },
      times: 1,
    }),
  );
  await run(`sandbox faults add ${rule} -q`);
  const first = async (line: string, name: string) =>
    ((await sandbox.json(line)) as { data: readonly Record<string, string>[] }).data[0]?.[name] ?? '';
  const request = await first('sandbox requests --operation cards.create --json', 'request_id');
  const delivery = await first('sandbox deliveries list --json', 'id');
  return { card, busy, approved, decline, forced, request, delivery };
}
