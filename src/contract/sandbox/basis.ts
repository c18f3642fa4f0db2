/** Names that tell the sandbox from the service, and its control surface from both. */

/** Base path of the control surface. */
export const ADMIN_PATH = '/_sandbox/v1';

/** Path below it that takes a whole store as a file. */
export const IMPORT_PATH = '/import';

/** Header with the half of a session that the page keeps; the other half is a cookie. */
export const PAGE_HALF_HEADER = 'X-Sandbox-Page';

/** On every answer of the sandbox, so that nobody takes it for the service. */
export const SANDBOX_MARK = 'X-Sandbox';

/** How every deposit address of the sandbox begins, so that nobody takes it for a real one, nor draws a code of it. */
export const SANDBOX_ADDRESS = 'sandbox-do-not-send-';

// Words of the control surface that the store of a sandbox holds as well.

export const CLOCK_MODES = ['real', 'offset', 'frozen', 'scaled'] as const;
export const CHALLENGE_STATUSES = ['pending', 'approved', 'failed', 'expired', 'cancelled'] as const;
export const DELIVERY_STATES = ['queued', 'sending', 'delivered', 'failed', 'cancelled'] as const;
