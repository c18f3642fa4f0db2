import { printsStub } from './stub.ts';

/** Prints the completion script for PowerShell. */
export const completionPowershell = printsStub(
  'powershell',
  'completion powershell > ~/.config/powershell/cardwright.ps1',
  'A file for your profile to read (completion install does both)',
);
