/** What a command may ask for and what it hands over: made in `app/`, from which the types follow. */

export type { NewKey } from '../app/account.ts';
export type { Context } from '../app/context.ts';
export type { FileEdit } from '../app/context-files.ts';
export type { HeldRequest } from '../app/journal-admin.ts';
export type { StartedBrowser, ToolHost } from '../app/programs.ts';
export type { PrivateSandboxOptions, Restored, ServerRow } from '../app/sandbox.ts';
export type { Shown } from '../terminal/view.ts';
