// `pnpm studio-pictures` takes the pictures of docs/studio.md: the page with a sample conversation, in both themes.
import { mkdirSync } from "node:fs";
import { sqliteStore, systemClock } from "@colloquy/runtime-node";
import { startBrowser } from "../../../../../proof/kit/browser.ts";
import { serveStudio } from "./served.ts";
import { planTrip, trips } from "./trip.ts";

const folder = new URL("../../../../../docs/studio/", import.meta.url);

/** The pictures: their content, width and colours. */
const pictures = [
  ["prompt", "thread=trip-to-oslo&pane=detail&tab=prompt&seq=31", 1_280, 760, "light"],
  ["prompt-dark", "thread=trip-to-oslo&pane=detail&tab=prompt&seq=31", 1_280, 760, "dark"],
  ["turn", "thread=trip-to-oslo&pane=detail&tab=turn&seq=8", 1_280, 760, "light"],
  ["state", "thread=trip-to-oslo&pane=detail&tab=state&seq=12", 1_280, 760, "light"],
  [
    "tree-dark",
    "thread=trip-to-oslo&pane=journal&view=tree&tab=compare&seq=22&other=trip-to-oslo&otherSeq=19",
    1_440,
    860,
    "dark",
  ],
  ["narrow", "thread=trip-to-oslo&pane=detail&tab=prompt&seq=31", 400, 800, "light"],
] as const;

const executable = process.env["COLLOQUY_CHROMIUM"] ?? "";
if (executable === "")
  throw new Error("COLLOQUY_CHROMIUM names no browser: `pnpm servers pnpm studio-pictures` has one");
const store = sqliteStore({ path: ":memory:" });
const planned = trips(store);
for (const thread of ["support-2291", "weekly-report", "trip-to-oslo"]) await planTrip(planned.host, thread);
// The threads are a few seconds old.
const served = await serveStudio(store, planned, {
  clock: { ...systemClock, now: () => Date.UTC(2026, 8, 14, 9, 2, 47) },
});
const browser = await startBrowser(executable);
mkdirSync(folder, { recursive: true });
for (const [name, place, width, height, colorScheme] of pictures) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, timezoneId: "UTC" });
  await page.goto(`${served.url}/studio#${place}`);
  await page.getByText("live", { exact: true }).waitFor();
  const [, tab] = /tab=(\w+)/.exec(place) ?? [];
  await page
    .locator({ prompt: ".unit", compare: ".compare .message", turn: ".span" }[tab ?? ""] ?? ".chart")
    .first()
    .waitFor();
  if (width > 760) await page.locator(".selected .entry, .present").first().waitFor();
  if (tab === "prompt") await page.locator(".legend").waitFor();
  await page.screenshot({ path: new URL(`${name}.png`, folder).pathname });
  await page.close();
}
await browser.close();
await served.close();
await planned.close();
await store.close();
