// A card for an order, once, whichever machine runs this and how often: node order-card.mjs order-4711
//
// The journal is a PostgreSQL database that all of these machines share ("A journal for several machines" in the guide).
// Its password comes from PGPASSWORD or ~/.pgpass.
import process from 'node:process';
import { createClient } from 'cardwright/client';

const [order] = process.argv.slice(2);
const { CARD_SERVICE, CARD_KEY, JOURNAL_URL } = process.env;
const client = createClient({
  baseUrl: CARD_SERVICE,
  apiKey: CARD_KEY,
  journal: JOURNAL_URL,
});
try {
  const card = await client.send('cards.create', { bin_id: 'bin_1', amount: 10 }, { intent: order });
  process.stdout.write(`${card.id}\n`);
} catch (error) {
  // `not_sent`: repeat it later, as with `guarded` while another machine works on it. `unknown`: repeat it too, under the
  // same intent: that looks for the card and sends nothing twice.
  process.stderr.write(`${error.kind}, ${error.outcome}, ${error.op ?? 'no operation'}: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  await client.close();
}
