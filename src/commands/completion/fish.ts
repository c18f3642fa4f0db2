import { printsStub } from './stub.ts';

/** Prints the completion script for fish. */
export const completionFish = printsStub('fish', 'completion fish > ~/.config/fish/completions/cardwright.fish');
