import { FINDING } from '../app/doctor.ts';
import { command } from '../cli/parsing/command.ts';
import { CliError } from '../core/errors.ts';

export const doctor = command({
  path: 'doctor',
  summary: 'Check key, network, clock, TLS, proxy, files, contract and store',
  answers: { list: FINDING },
  about:
    'Sends one read request; with --sandbox nothing leaves this machine. Private files with too open modes are repaired, as in every command. A failed check is exit 15.',
  reach: 'service',
  ends: { check_failed: 'A check failed; the table says what to do.' },
  examples: { 'In words': 'doctor' },
  run: ctx => ctx.diagnose(),
  columns: [
    'check status says hint+',
    { says: { shrink: 'wraps' }, hint: { title: 'NEXT', shrink: 'wraps', unlessEmpty: true } },
  ],
  noun: 'check',
  idField: 'check',
  show: findings => {
    const failed = findings.filter(({ status }) => status === 'fail');
    const hint = failed.find(each => each.hint !== undefined)?.hint;
    const failure = new CliError('check_failed', {
      message: `${failed.length} of ${findings.length} checks failed: ${failed.map(({ check }) => check).join(', ')}`,
      notes: failed.map(({ check, says }) => `${check}: ${says}`),
      ...(hint !== undefined && { hint }),
    });
    const notes = findings.flatMap(({ check, hint }) => (hint === undefined ? [] : [`${check}: ${hint}`]));
    return { notes, ...(failed.length > 0 && { failure }) };
  },
});
