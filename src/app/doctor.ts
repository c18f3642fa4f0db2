/** `doctor` on this machine, for the profile of this run. */
import type { AuditLog } from '../audit/log.ts';
import type { Finding } from '../cli/finding.ts';
import { CliError } from '../core/errors.ts';
import { freeSpaceOf } from '../files/free-space.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';
import { type Examined, examine } from './doctor/examine.ts';
import type { ShownLimit } from './limits.ts';

export interface DoctorFacts {
  readonly host: AppHost;
  readonly version: string;
  readonly opened: Connections;
  readonly audit: () => Promise<AuditLog>;
  readonly limits: () => Promise<readonly ShownLimit[]>;
  readonly leftRuns: Examined['leftRuns'];
}

export function doctorFor({
  host,
  version,
  opened,
  audit,
  limits,
  leftRuns,
}: DoctorFacts): Promise<readonly Finding[]> {
  const { platform, random, pid, folders, clock, env } = host;
  return examine({
    clock,
    version,
    audit,
    limits,
    leftRuns,
    nodeVersion: host.nodeVersion,
    codeCache: host.codeCache,
    runtime: { execArgv: host.execArgv, env, inspected: host.inspected() },
    identity: opened.identity,
    openKey: opened.key,
    overrides: opened.overrides,
    async probe() {
      try {
        await (await opened.service()).send('wallet.get', {});
        return { answer: opened.observed(), error: undefined };
      } catch (thrown) {
        if (!(thrown instanceof CliError)) throw thrown;
        return { answer: opened.observed(), error: thrown };
      }
    },
    async storeFaults() {
      const { result } = await (await opened.admin()).send('ledger.check', {});
      return result.faults;
    },
    async journal() {
      const { journalPath } = await import('./journal.ts');
      return journalPath(host);
    },
    files: { folders, files: { platform, random }, pid, isRunning: other => host.isRunning(other), freeSpaceOf },
  });
}
