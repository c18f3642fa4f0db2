import { printsStub } from './stub.ts';

/** Prints the completion script for zsh. */
export const completionZsh = printsStub('zsh', 'completion zsh > ~/.zfunc/_cardwright');
