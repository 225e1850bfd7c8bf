import type { ScreenOptions } from "./screen/screen-options.ts";

/**
 * Shows a conversation at a terminal until it ends, or the terminal goes away. Rejects if drawing or a key throws. The
 * terminal is restored in any case. Ink and React are loaded at the first call.
 */
export const runScreen = async (options: ScreenOptions): Promise<void> => {
  // From now on, the screen shows typed text, and not the terminal itself.
  options.input.setRawMode?.(true);
  try {
    const { runInkScreen } = await loaded();
    return await runInkScreen(options);
  } finally {
    options.input.setRawMode?.(false);
  }
};

/**
 * Loads React for production: it reads the environment when it is loaded, and its development version takes twice the
 * time.
 */
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
