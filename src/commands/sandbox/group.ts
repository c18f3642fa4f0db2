import { sandboxCard } from './card.ts';
import { sandboxCards } from './cards.ts';
import { checkSandbox } from './check.ts';
import { advanceSandboxClock } from './clock/advance.ts';
import { setSandboxClock } from './clock/set.ts';
import { showSandboxClock } from './clock/show.ts';
import { clockTimers } from './clock/timers.ts';
import { sandboxClock } from './clock.ts';
import { listDeliveries } from './deliveries/list.ts';
import { recoverDeliveries } from './deliveries/recover.ts';
import { redeliver } from './deliveries/redeliver.ts';
import { rotateSecret } from './deliveries/rotate.ts';
import { sendDelivery } from './deliveries/send.ts';
import { sendExample } from './deliveries/send-example.ts';
import { showDelivery } from './deliveries/show.ts';
import { sandboxEvents } from './events.ts';
import { sandboxExecute } from './exec.ts';
import { exportSandbox } from './export.ts';
import { addFaults } from './faults/add.ts';
import { clearFaults } from './faults/clear.ts';
import { listFaults } from './faults/list.ts';
import { removeFault } from './faults/remove.ts';
import { importSandbox } from './import.ts';
import { openInspector } from './open.ts';
import { sandboxOverview } from './overview.ts';
import { sandboxRequests } from './requests.ts';
import { resetSandbox } from './reset.ts';
import { simulateAnswer } from './simulate/answer.ts';
import { simulateAuthorize } from './simulate/authorize.ts';
import { simulateCancel } from './simulate/cancel.ts';
import { simulateChallenge } from './simulate/challenge.ts';
import { simulateConfirm } from './simulate/confirm.ts';
import { simulateDeposit } from './simulate/deposit.ts';
import { simulateExpire } from './simulate/expire.ts';
import { simulateFail } from './simulate/fail.ts';
import { simulateForcePost } from './simulate/force-post.ts';
import { simulateIncrement } from './simulate/increment.ts';
import { simulateRefund } from './simulate/refund.ts';
import { simulateReverse } from './simulate/reverse.ts';
import { runSandboxScenario } from './simulate/run.ts';
import { simulateSettle } from './simulate/settle.ts';
import { diffSnapshots } from './snapshot/diff.ts';
import { listSnapshots } from './snapshot/list.ts';
import { removeSnapshot } from './snapshot/remove.ts';
import { restoreSnapshot } from './snapshot/restore.ts';
import { saveSnapshot } from './snapshot/save.ts';
import { startSandbox } from './start.ts';
import { sandboxStatus } from './status.ts';
import { stopSandbox } from './stop.ts';
import { cardTimeline } from './timeline.ts';
import { sandboxWebhooks } from './webhooks.ts';
import { whyDeclined } from './why.ts';

export const SANDBOX_COMMANDS = [
  startSandbox,
  stopSandbox,
  sandboxExecute,
  sandboxStatus,
  openInspector,
  sandboxOverview,
  sandboxCards,
  sandboxCard,
  checkSandbox,
  whyDeclined,
  cardTimeline,
  sandboxEvents,
  resetSandbox,
  simulateAuthorize,
  simulateIncrement,
  simulateSettle,
  simulateReverse,
  simulateExpire,
  simulateRefund,
  simulateForcePost,
  simulateChallenge,
  simulateAnswer,
  simulateCancel,
  simulateDeposit,
  simulateConfirm,
  simulateFail,
  runSandboxScenario,
  sandboxClock,
  showSandboxClock,
  setSandboxClock,
  advanceSandboxClock,
  clockTimers,
  sandboxWebhooks,
  listDeliveries,
  showDelivery,
  redeliver,
  recoverDeliveries,
  sendExample,
  sendDelivery,
  rotateSecret,
  addFaults,
  listFaults,
  removeFault,
  clearFaults,
  sandboxRequests,
  saveSnapshot,
  listSnapshots,
  diffSnapshots,
  restoreSnapshot,
  removeSnapshot,
  exportSandbox,
  importSandbox,
];
