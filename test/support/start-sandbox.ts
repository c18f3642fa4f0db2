/** The sandbox as tests start it. */
export { type RunningSandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/serving/start.ts';
