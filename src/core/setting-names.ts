/** The settings that a profile keeps, in the order in which they are shown; `profile/settings.ts` says what each may be. */
export const KEPT_SETTINGS = [
  'allow_unattended_reveal',
  'read_only',
  'max_per_call',
  'max_per_run',
  'max_per_day',
  'max_cards',
  'bins',
  'mirror',
  'policy',
] as const;

export type KeptSetting = (typeof KEPT_SETTINGS)[number];
