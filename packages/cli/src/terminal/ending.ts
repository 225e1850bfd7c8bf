/**
 * Returns a signal that is aborted when the process is asked to end, with the name of the process signal as the reason.
 * If the reader of its output is gone, the reason is `EPIPE`. Only the first process signal aborts it: a second one
 * ends the process.
 */
export const endingOf = (running: NodeJS.Process): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // Not removed: at a signal without another listener, Ink ends the process before the answer is cancelled.
    const listener = (): void => {
      if (!ending.signal.aborted) return ending.abort(signal);
      running.off(signal, listener);
      running.kill(running.pid, signal);
    };
    running.on(signal, listener);
  }
  running.stdout.on("error", () => ending.abort("EPIPE"));
  // If nobody reads stderr, its errors do not matter.
  running.stderr.on("error", () => {});
  return ending.signal;
};
