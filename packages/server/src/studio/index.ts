export type { StudioConfiguration, StudioOptions } from "./routes/options.ts";
export { studioRoutes } from "./studio.ts";
