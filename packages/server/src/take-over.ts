import type { Host } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import type { ServerContext } from "./http/server-options.ts";

/**
 * Continues the threads of servers that died, also if nobody asks for them. Each round looks at the threads that changed since
 * the round before, and again at those that another host leased then.
 *
 * @returns a function that ends it
 * @throws ConfigurationError if `everyMs` is invalid
 */
export const takeOver = (
  host: Pick<Host, "resumeAll">,
  { clock, onError }: Pick<ServerContext, "clock" | "onError">,
  everyMs: number,
): (() => void) => {
  if (!(Number.isSafeInteger(everyMs) && everyMs >= 1))
    throw new ConfigurationError(
      `threadServer: takeOverMs is ${everyMs}; it must be a whole number, 1 or more, or null`,
    );
  let isOver = false;
  let cancel = (): void => {};
  let from = 0;
  let also: readonly string[] = [];
  const round = async (): Promise<void> => {
    const begunAt = clock.now();
    try {
      const { left } = await host.resumeAll({ updated: { from }, also, waitMs: 0 });
      also = left.map(({ threadId }) => threadId);
      // Clocks of servers differ; a thread that is looked at twice costs little.
      from = begunAt - everyMs;
    } catch (thrown) {
      if (!isOver) onError(thrown, "takeover");
    }
    wait();
  };
  const wait = (): void => {
    if (!isOver) cancel = clock.wakeAt(clock.now() + everyMs, () => void round());
  };
  wait();
  return () => {
    isOver = true;
    cancel();
  };
};
