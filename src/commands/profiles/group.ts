import type { Leaves } from '../../cli/parsing/command.ts';

export const PROFILE_COMMANDS: Leaves = {
  'profiles list': async () => (await import('./list.ts')).listProfiles,
  'profiles show': async () => (await import('./show.ts')).showProfile,
  'profiles use': async () => (await import('./use.ts')).useProfile,
  'profiles set': async () => (await import('./set.ts')).setProfile,
  'profiles accept': async () => (await import('./accept.ts')).acceptProfile,
  'profiles remove': async () => (await import('./remove.ts')).removeProfile,
};
