/** Whether a test runs all of its cases, as in `npm run test:full`, and not a few of each kind. */
import process from 'node:process';

export const isWhole = process.env['CARDWRIGHT_TEST_WHOLE'] === '1';
