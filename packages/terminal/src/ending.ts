/**
 * Aborted when the process is asked to end, with the name of the signal; or, with `EPIPE`, when the reader of its output
 * is gone. Only the first signal aborts it: a second one ends the process.
 */
export const endingOf = (running: NodeJS.Process): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // It stays: Ink ends the process at a signal to which nobody else listens, before the answer is cancelled.
    const listener = (): void => {
      if (!ending.signal.aborted) return ending.abort(signal);
      running.off(signal, listener);
      running.kill(running.pid, signal);
    };
    running.on(signal, listener);
  }
  running.stdout.on("error", () => ending.abort("EPIPE"));
  // Who reads no errors misses none.
  running.stderr.on("error", () => {});
  return ending.signal;
};
