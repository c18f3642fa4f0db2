/** Names that tell the sandbox from the service, and its control surface from both. */

/** Base path of the control surface. */
export const ADMIN_PATH = '/_sandbox/v1';

/** Header with the half of a session that the page keeps; the other half is a cookie. */
export const PAGE_HALF_HEADER = 'X-Sandbox-Page';

/** On every answer of the sandbox, so that nobody takes it for the service. */
export const SANDBOX_MARK = 'X-Sandbox';

/** How every deposit address of the sandbox begins, so that nobody takes it for a real one, nor draws a code of it. */
export const SANDBOX_ADDRESS = 'sandbox-do-not-send-';
