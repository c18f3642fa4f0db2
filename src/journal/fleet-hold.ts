/** One apply of a fleet at a time. */
import { CliError } from '../core/errors.ts';
import type { HeldOp } from './changes.ts';
import type { Transaction } from './database.ts';
import { LEASE_MS, RENEW_MS, whoWorks } from './holder.ts';

/** Resolves to the letting go. Throws `guarded` while a living process holds it. */
export async function holdFleet(
  { database, self }: Omit<HeldOp, 'op'>,
  fleet: string,
  useAccount: (tx: Transaction) => Promise<string>,
): Promise<() => Promise<void>> {
  const account = await database.transaction(async tx => {
    const account = await useAccount(tx);
    const now = await tx.now();
    const [held] = await tx.all<{ holder: string; process: string; lease: number }>(
      'select holder, process, lease from fleet_hold where account = ? and fleet = ?',
      account,
      fleet,
    );
    if (held !== undefined && whoWorks(held, self, now) !== 'nobody') throw applied(fleet, held.holder);
    await tx.run(
      `insert into fleet_hold (account, fleet, holder, process, lease) values (?, ?, ?, ?, ?)
        on conflict (account, fleet) do update set holder = excluded.holder, process = excluded.process, lease = excluded.lease`,
      account,
      fleet,
      self.holder,
      self.process,
      now + LEASE_MS,
    );
    return account;
  });
  const renew = () =>
    database.grouped(async tx =>
      tx.run(
        'update fleet_hold set lease = ? where account = ? and fleet = ? and process = ?',
        (await tx.now()) + LEASE_MS,
        account,
        fleet,
        self.process,
      ),
    );
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS).unref();
  return async () => {
    clearInterval(renewal);
    await database.grouped(tx =>
      tx.run('delete from fleet_hold where account = ? and fleet = ? and process = ?', account, fleet, self.process),
    );
  };
}

function applied(fleet: string, holder: string): CliError {
  return new CliError('guarded', {
    message: `${holder} applies the fleet ${fleet} now. Nothing was sent`,
    hint: 'cardwright ops list --state running',
    outcome: 'not_sent',
  });
}
