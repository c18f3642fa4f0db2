import { beginAgain, type Flaw } from '../../audit/flaw.ts';
import { CliError } from '../../core/errors.ts';

/** The failure of a log whose chain is broken: exit 15, and the line. */
export function brokenChain(path: string, { line, why }: Flaw): CliError {
  return new CliError('check_failed', {
    message: `the audit log is broken at line ${line}: ${why}`,
    notes: [
      `The file is ${path}. The lines before it are intact; the lines after it cannot be trusted.`,
      beginAgain(path),
    ],
    hint: 'cardwright audit export --out audit-broken.jsonl',
    evidence: { path, line, why },
  });
}
