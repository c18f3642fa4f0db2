/** A commit failed and nobody knows whether it lasted: whoever waits gets no answer and the server stops. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
}
