import { type Browser, chromium } from "playwright-core";

/** Starts a headless Chromium. */
export const startBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** The variable that names the browser, as `pnpm servers` sets it. */
const browserVariable = "COLLOQUY_CHROMIUM";

/** @throws when no browser is named */
export const neededBrowser = (): string => {
  const path = process.env[browserVariable] ?? "";
  if (path === "") throw new Error(`${browserVariable} names no browser; \`pnpm servers\` has one`);
  return path;
};
