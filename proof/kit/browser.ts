import { type Browser, type BrowserContext, chromium } from "playwright-core";

export const startBrowser = (executablePath: string, more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...args, ...more] });

/** Starts one that keeps the storage of its pages in a folder, like a user's browser. */
export const startBrowserIn = (executablePath: string, folder: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, { executablePath, args });

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The variable that names the browser, as `pnpm servers` sets it. */
const browserVariable = "COLLOQUY_CHROMIUM";

/** @throws if no browser is named */
export const neededBrowser = (): string => {
  const path = process.env[browserVariable] ?? "";
  if (path === "") throw new Error(`${browserVariable} names no browser; \`pnpm servers\` has one`);
  return path;
};
