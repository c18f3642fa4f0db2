import { beginAgain, type Flaw } from '../../audit/flaw.ts';
import { CliError } from '../../core/errors.ts';

/** The failure of a log whose chain is broken: exit 15, and the line. */
export function brokenChain(path: string, { line, why }: Flaw): CliError {
  return new CliError('check_failed', {
    message: `the audit log is broken at line ${line}: ${why}`,
    notes: [`The file is ${path}. Lines before it are whole; nothing after it can be relied on.`, beginAgain(path)],
    hint: 'cardwright audit export --out audit-broken.jsonl',
    evidence: { path, line, why },
  });
}
