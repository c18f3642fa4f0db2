/** Which schema of a shared journal this release makes and uses; it grows when tables or functions change. */
export const SCHEMA_NUMBER = 11;
