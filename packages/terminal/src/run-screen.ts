import type { ScreenOptions } from "./screen/screen-options.ts";

/**
 * Shows a conversation at a terminal until it ends, or the terminal goes away. Rejects when drawing or a key throws;
 * the terminal is as it was before in any case. Ink and React are loaded with the first call.
 */
export const runScreen = async (options: ScreenOptions): Promise<void> => {
  // What is typed meanwhile is shown by the screen, and not by the terminal itself.
  options.input.setRawMode?.(true);
  try {
    const { runInkScreen } = await loaded();
    return await runInkScreen(options);
  } finally {
    options.input.setRawMode?.(false);
  }
};

/** React looks at the environment when it is loaded: made for development, it takes twice the time. */
const loaded = async (): Promise<typeof import("./screen/ink-screen.ts")> => {
  const { NODE_ENV } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    return await import("./screen/ink-screen.ts");
  } finally {
    if (NODE_ENV === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = NODE_ENV;
  }
};
