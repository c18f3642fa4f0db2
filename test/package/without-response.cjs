/** Preloaded into the program: whoever touches what loads Node's fetch ends it. */
for (const name of ['Response', 'Request', 'fetch']) {
  Object.defineProperty(globalThis, name, {
    get() {
      process.stderr.write(`${name} was touched\n`);
      process.exit(99);
    },
  });
}
