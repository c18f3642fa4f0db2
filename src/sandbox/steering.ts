/** Operations of the admin surface that take many transactions of their own. Every other is one, in a handler. */

import { advanceClock } from './advance.ts';
import type { Call, SteeringName } from './handler.ts';
import type { ServiceParts } from './service.ts';

export type Steering = {
  readonly [N in SteeringName]: (parts: ServiceParts, input: Call<never>['input']) => Promise<unknown>;
};

export const STEERING: Steering = { 'clock.advance': advanceClock };
