import { acceptProfile } from './accept.ts';
import { listProfiles } from './list.ts';
import { removeProfile } from './remove.ts';
import { setProfile } from './set.ts';
import { showProfile } from './show.ts';
import { useProfile } from './use.ts';

export const PROFILE_COMMANDS = [listProfiles, showProfile, useProfile, setProfile, acceptProfile, removeProfile];
