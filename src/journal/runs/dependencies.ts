/** What the journal is given, and what its parts share. */
import type { Overrides } from '../../contract/overrides.ts';
import type { Service } from '../../contract/service.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import type { Capabilities } from '../idempotency-support.ts';
import type { OpStore } from '../store/op-store.ts';
import type { ApprovalGate } from './approval-gate.ts';

/** Who this process acts as. */
export interface Acting {
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  /** Base address, or `embedded`. */
  readonly origin: string;
}

export interface JournalDependencies {
  /** Whether the embedded sandbox honours keys; taken for granted when left out. */
  readonly sandboxHonoursKeys?: (() => Promise<boolean>) | undefined;
  /** Whether a sandbox elsewhere honours keys, proved for the test key of this run; undefined where nobody has proved it. */
  readonly statedForKey?: (() => Promise<boolean | undefined>) | undefined;
  /** Where ops are kept; nothing below asks which store it is. */
  readonly store: OpStore;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly pid: number;
  /** When this command began, ms UTC: what others did after it, its user could not know. */
  readonly begunAt: number;
  readonly service: () => Promise<Service>;
  readonly acting: () => Promise<Acting>;
  /** Names that the service of the profile has for things; those of the interface when left out. */
  readonly overrides?: (() => Promise<Overrides>) | undefined;
  readonly capabilities: Capabilities;
  /** The clock of the service by its newest answer, ms UTC; undefined while none told the time. */
  readonly serviceNow?: (() => number | undefined) | undefined;
  /** `--timeout` or the total of one write, ms. */
  readonly writeTotalMs: number;
  /** No row is begun after it. */
  readonly stop: AbortSignal;
  /** Cuts off what is on the wire. */
  readonly cut: AbortSignal;
  /** Called when a run is open: the process must not end before it is let go. */
  readonly hold: () => () => void;
  readonly notice: (text: string) => void;
  /**
   * Keeps work until the answer of the command was written, for only then is an op finished: whoever is killed before
   * it has not been told. At once when left out.
   */
  readonly afterAnswer?: (work: AfterAnswer) => void;
  /** What holds plans until other persons have agreed; when left out no plan is held, and none that was is sent. */
  readonly approvals?: ApprovalGate | undefined;
}

/** What is left to do for an op once its answer was written, or was lost on the way to whoever reads it. */
export type AfterAnswer = (answer: 'written' | 'lost') => Promise<void>;
