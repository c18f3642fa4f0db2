import { afterAll, describe, expect, it } from 'vitest';
import { json, serve } from '../client/served.ts';
import { type RunOptions, world } from '../support/world.ts';

const WALLET = { balance: 12, currency: 'USD' };
const SIGN = /^\r\x1b\[2Kwaiting for 127\.0\.0\.1:\d+/;

const here = await world();
afterAll(() => here[Symbol.asyncDispose]());

/**
 * Every answer but the first refusals comes only once something was said, or the promise is kept; pauses that are held
 * last as long.
 */
async function slowly(
  line: string,
  run: RunOptions,
  { until = Promise.resolve(), refusals = 0, words = /waiting|asked again/, isPauseHeld = false } = {},
) {
  let say: () => void = () => undefined;
  const said = new Promise<void>(resolve => {
    say = resolve;
  });
  let refused = 0;
  await using service = await serve((seen, response) => {
    // The clock of the world stands still at another day.
    response.sendDate = false;
    if (refused++ < refusals) return void response.writeHead(429, { 'retry-after': '3' }).end();
    const rows = seen.url.includes('/wallet') ? WALLET : { data: [] };
    void Promise.race([said, until]).then(() => json(response, 200, rows));
  });
  const env = { ...service.env, CARDWRIGHT_PROFILE: undefined, ...run.env };
  const onErr = (text: string) => words.test(text) && say();
  const held = isPauseHeld && { onPause: () => said };
  return await here.run(line, { ...run, ...held, onErr, env });
}

const NEVER = new Promise<void>(() => undefined);

describe('an answer that is late', () => {
  it.each(['wallet', 'cards list', 'tx summary', 'bins list', 'api GET /wallet', 'wallet --json'])(
    'is waited for aloud on a terminal: %s',
    async line => {
      const { code, out, err } = await slowly(line, { terminal: 80 }, { until: NEVER });
      expect({ code, sign: SIGN.test(err.slice(err.indexOf('\r'))) }).toEqual({ code: 0, sign: true });
      expect(out).not.toContain('\x1b');
      // Taken away before the answer, and nothing of it is left.
      expect(err.slice(err.lastIndexOf('waiting'))).toMatch(/^waiting for [\d.:]+( {2}\d+ s)?\r\x1b\[2K/);
    },
  );
});

describe('a service that asks to wait', () => {
  const passing = { onPause: () => undefined };

  it('is counted down on a terminal, and taken away', async () => {
    const { code, err } = await slowly('wallet', { terminal: 80, ...passing }, { refusals: 1 });
    expect(code).toBe(0);
    expect(err).toMatch(/has too many requests \(429\): asked again in 3 s\r\x1b\[2K/);
    expect(err.endsWith('\r\x1b[2K')).toBe(true);
  });
});
