/** Two scenarios to begin with. They are shown by `help scenarios` and run by the tests, so they are true. */

export const PURCHASE = `scenario: A purchase that settles for less than was held
steps:
  - reset: {data: empty, seed: 7}
  - simulate.deposit: {currency: usdt, amount: 100}
    as: deposit
  - simulate.confirm: {deposit_id: $deposit.deposit_id}
    expect: {wallet_balance: 100}
  - bins.list:
    as: bins
  - cards.create: {bin_id: $bins.data.0.id, amount: 50, label: scenario}
    as: card
    expect: {status: active, balance: 50}
  - simulate.authorize: {card_id: $card.id, amount: 30, merchant: COFFEE SHOP}
    as: hold
    expect: {outcome: approved, card_balance: 20}
  - simulate.settle: {authorization_id: $hold.authorization_id, amount: 28.5}
    expect: {card_balance: 21.5, events: [transaction.settled]}
  - cards.withdraw: {card_id: $card.id, amount: 1000}
    fails: insufficient_card_funds
  - ledger.check:
    expect: {ok: true}
`;

export const HOLD = `scenario: A hold nobody settles comes back after a week
steps:
  - reset: {data: empty, seed: 7}
  - clock.set: {mode: frozen, at: 2026-11-20T14:00:00Z}
  - simulate.deposit: {currency: btc, amount: 100}
    note: two blocks later it is confirmed by itself
  - clock.advance: {by: 1h}
    expect: {fired: [{kind: deposit.confirmation}, {kind: deposit.confirmation}]}
  - bins.list:
    as: bins
  - cards.create: {bin_id: $bins.data.1.id, amount: 40, auto_freeze_at: 20}
    as: card
  - simulate.authorize: {card_id: $card.id, amount: 25}
    as: purchase
    expect: {outcome: approved, card_status: frozen, card_balance: 15}
  - simulate.authorize: {card_id: $card.id, amount: 5}
    expect: {outcome: declined, decline_reason: card_frozen}
  - clock.advance: {by: 7d}
    expect: {fired: [{kind: authorization.expiry, ref: $purchase.authorization_id}]}
  - cards.get: {card_id: $card.id}
    expect: {balance: 40, status: frozen}
  - cards.unfreeze: {card_id: $card.id}
    expect: {status: active}
`;

export const EXAMPLES = { 'purchase.yaml': PURCHASE, 'hold.yaml': HOLD } as const;
