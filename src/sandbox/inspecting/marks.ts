/** marks: whether anything changed since somebody last asked, in one cheap statement. */
import { clockRate, readClock } from '../clock/clock.ts';
import { isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { changeCount } from '../store/change-count.ts';
import { generationOf } from '../store/meta.ts';

/** What this process has not written yet counts too. */
export const showMarks: MomentHandler<'marks'> = async ({ sql, account, now, parts }) => {
  const { own, others, faults, checked } = await changeCount(sql, account, now);
  const { requestLog, turnedLog, actLog, activeDialect, archives, version } = parts;
  const unwritten = `${requestLog.waiting.length}.${requestLog.waiting.at(-1)?.request_id ?? ''}`;
  const { mode, rate_milli } = await readClock(sql, account);
  return {
    version,
    replaced: await generationOf(sql),
    changes: [own, others, unwritten, turnedLog.count, actLog.last, archives.changes, activeDialect.name].join('-'),
    now: isoTime(now),
    mode,
    rate: clockRate({ mode, rate_milli }),
    faults,
    ledger_ok: checked === null ? null : checked === '[]',
  };
};
