// Loaded into a program before it starts (--import): tells its parent what it holds after a full collection.
process.on('message', (word) => {
  if (word !== 'memory') return;
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.({ memory: process.memoryUsage() });
});
// A measurement that is gone wants nothing any more.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// Listening alone must not keep the program alive.
process.channel?.unref();
