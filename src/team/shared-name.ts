/** A name that one process of all machines holds: the fleet that it changes. It is renewed like the lease of an op. */
import { CliError } from '../core/errors.ts';
import { leaseMsFor } from './lease.ts';
import type { SharedOps } from './shared-ops.ts';

const RENEW_MS = 30_000;

/**
 * Resolves to the letting go. Throws `guarded` while another process has it. A process that stands still for longer than a
 * lease loses it, and the ops that it works on with it.
 */
export async function holdName(shared: SharedOps, name: string): Promise<() => Promise<void>> {
  const { statements, account, host, head, random, clock } = shared;
  const by = Buffer.from(random.bytes(4)).toString('hex');
  const over = new AbortController();
  const hold = async () => {
    const answer = await statements().holdName({
      account,
      known: head.known(),
      name,
      by,
      host,
      ttl_ms: leaseMsFor(shared),
    });
    head.learn(answer.head);
    return answer;
  };
  const first = await hold();
  if (first.verdict === 'held') throw heldBy(name, first);
  const renewing = async () => {
    for (;;) {
      await clock.sleep(RENEW_MS, over.signal).catch(() => undefined);
      if (over.signal.aborted) return;
      await hold().catch(() => undefined);
    }
  };
  void renewing();
  return async () => {
    over.abort();
    // Where that fails it ends by itself.
    await statements()
      .releaseName({ account, known: head.known(), name, by })
      .catch(() => undefined);
  };
}

function heldBy(
  name: string,
  { holder, host, left_ms }: { readonly holder: string; readonly host: string; readonly left_ms: number },
): CliError {
  const fleet = name.replace(/^fleet\//, '');
  return new CliError('guarded', {
    message: `another apply of the fleet ${fleet} is under way, by ${holder} on ${host}; without a sign of life it ends in ${Math.ceil(left_ms / 1000)} s`,
    hint: 'cardwright ops locks',
    outcome: 'not_sent',
    retryAfterMs: left_ms,
  });
}
