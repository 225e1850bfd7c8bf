import type { Route } from "@colloquy/server";
import { pageAssets } from "./assets.ts";
import { threadReader } from "./reading/thread-reader.ts";
import { actingRoutes } from "./routes/acting.ts";
import { lookingRoutes } from "./routes/looking.ts";
import type { StudioOptions } from "./routes/options.ts";
import { pageRoutes } from "./routes/page.ts";

/**
 * Returns the routes of a developer's page at `/studio`, for a `threadServer`. It shows threads as they change, their
 * journals, trees and states, and the prompt of each call with the reasons for its content. It reads the store, and
 * takes a lease only to answer an approval or to try a turn again. A user of the server sees only the threads that
 * `mayUse` allows.
 */
export const studioRoutes = async (options: StudioOptions): Promise<readonly Route[]> => {
  const read = threadReader(options.store);
  return [...pageRoutes(await pageAssets()), ...lookingRoutes(options, read), ...actingRoutes(options, read)];
};
