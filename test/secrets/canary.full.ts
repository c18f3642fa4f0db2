/** The canary scan of `canary.test.ts` with all stories, and with every command with --debug and as data. */
import process from 'node:process';
import { describe, it } from 'vitest';
import { everyCommandKeeps, expectKeyInOneHeader, leaveNoByte, MORE_STORIES, STORIES, withCanaries } from './canary.ts';

withCanaries();

describe.runIf(process.platform === 'linux')('no byte outside the chosen place', () => {
  it('stays in streams, arguments, environments and files', () => leaveNoByte([...STORIES, ...MORE_STORIES]));

  it('every command the registry has keeps them, with --debug and as data', () =>
    everyCommandKeeps(() => [' --debug', ' --json']));

  it('the service saw the key in one header alone', expectKeyInOneHeader);
});
