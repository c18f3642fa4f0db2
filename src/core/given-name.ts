/** Names that a person gives to a profile. */

export const GIVEN_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
export const GIVEN_NAME_RULE = '1 to 32 of a-z, 0-9, _ and -, and starts with a letter or digit';
