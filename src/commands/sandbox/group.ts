import { resetSandbox } from './reset.ts';
import { simulateAnswer } from './simulate/answer.ts';
import { simulateAuthorize } from './simulate/authorize.ts';
import { simulateChallenge } from './simulate/challenge.ts';
import { simulateConfirm } from './simulate/confirm.ts';
import { simulateDeposit } from './simulate/deposit.ts';
import { simulateRefund } from './simulate/refund.ts';
import { simulateReverse } from './simulate/reverse.ts';
import { simulateSettle } from './simulate/settle.ts';
import { sandboxStatus } from './status.ts';

export const SANDBOX_COMMANDS = [
  sandboxStatus,
  resetSandbox,
  simulateAuthorize,
  simulateSettle,
  simulateReverse,
  simulateRefund,
  simulateChallenge,
  simulateAnswer,
  simulateDeposit,
  simulateConfirm,
];
