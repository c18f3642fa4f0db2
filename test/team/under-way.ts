/** A command that stands still while it writes its answer. */
import type { World } from '../support/world.ts';

/** A command whose answer is written when `told` is: until then it has done what it does, and said nothing. */
export function underWay(machine: World, line: string, told: Promise<void>) {
  let begin = (): void => undefined;
  const begun = new Promise<void>(resolve => {
    begin = resolve;
  });
  const onOut = () => {
    begin();
    return told;
  };
  return [begun, machine.run(line, { onOut })] as const;
}
