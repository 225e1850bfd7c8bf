/// <reference lib="esnext.disposable" preserve="true" />

/** Returns the same object, which `await using` closes at the end of its block. */
export const disposable = <Closing extends { close(): Promise<void> }>(closing: Closing): Closing & AsyncDisposable =>
  Object.assign(closing, { [Symbol.asyncDispose]: () => closing.close() });
