import type { ScreenOptions } from "./screen/screen-options.ts";

/**
 * Shows a conversation at a terminal until it ends, or the terminal goes away. Rejects when drawing or a key throws;
 * the terminal is as it was before in any case. Ink and React are loaded with the first call.
 */
export const runScreen = async (options: ScreenOptions): Promise<void> => {
  const { runInkScreen } = await import("./screen/ink-screen.ts");
  return runInkScreen(options);
};
