/** What `work` makes of an open file, which stays open; when it fails the file is closed. */
export async function keepOpen<T>(
  file: { close(): Promise<void> } | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    await file?.close().catch(() => undefined);
    throw thrown;
  }
}
