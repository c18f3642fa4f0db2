/** Playing scenarios, which stand above the sandbox: whoever puts the program together hands a player in. */
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import type { Secret } from '../../core/secret.ts';

export type ScenarioRun = ReplyOf<AdminOperations['scenarios.show']>;
export type ScenarioChecked = ReplyOf<AdminOperations['scenarios.check']>;

/** The server in which a scenario plays. */
export interface Stage {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly key: Secret;
  readonly adminToken: Secret;
}

export interface ScenarioPlayer {
  examples(): Promise<readonly { readonly name: string; readonly text: string }[]>;
  check(text: string): Promise<ScenarioChecked>;
  /** Begins it. Undefined while another one is running. */
  play(text: string, stage: Stage): Promise<ScenarioRun | undefined>;
  /** One of the runs of this process; undefined for an unknown or a forgotten one. */
  find(id: string): ScenarioRun | undefined;
}
