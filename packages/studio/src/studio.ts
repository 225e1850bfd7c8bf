import type { Route } from "@colloquy/server";
import { pageAssets } from "./assets.ts";
import { threadReader } from "./reading/thread-reader.ts";
import { actingRoutes } from "./routes/acting.ts";
import { lookingRoutes } from "./routes/looking.ts";
import type { StudioOptions } from "./routes/options.ts";
import { pageRoutes } from "./routes/page.ts";

/**
 * A page for a developer, at `/studio`, as routes of a `threadServer`: threads as they change, their journals, trees and states,
 * and the prompt of each call with what it shows and why. It reads the store and takes no lease, but to answer an approval or to
 * try a turn again. Whoever may use the server sees the threads that its `mayUse` lets them, and no others.
 */
export const studioRoutes = async (options: StudioOptions): Promise<readonly Route[]> => {
  const read = threadReader(options.store);
  return [...pageRoutes(await pageAssets()), ...lookingRoutes(options, read), ...actingRoutes(options, read)];
};
