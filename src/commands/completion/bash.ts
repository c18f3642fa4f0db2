import { printsStub } from './stub.ts';

/** Prints the completion script for bash. */
export const completionBash = printsStub(
  'bash',
  'completion bash > ~/.local/share/bash-completion/completions/cardwright',
);
