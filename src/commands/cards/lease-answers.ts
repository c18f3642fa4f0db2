import { type Answers, tells } from '../../cli/answer-fields.ts';

/** A lease leaves standard output to its program; `--reap` lists what it ended. */
export const LEASE_ANSWERS: Answers = {
  either: [
    { none: 'What the program prints.' },
    { one: { terminated: tells.texts('Cards that leases left behind, ended with --reap.') } },
  ],
};
