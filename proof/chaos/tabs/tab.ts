import type { BrowserContext, CDPSession, Page } from "playwright-core";

import type { Tab, TabOptions } from "./talk.ts";

/** The ways in which a tab can go, whatever it is doing. */
export const waysToGo = ["close", "crash", "reload"] as const;

export type WayToGo = (typeof waysToGo)[number];

/** A tab of the browser, from the loading of its page to the page's end. */
export class OpenedTab {
  readonly number: number;
  /** True while its script is stalled. */
  isStalled = false;
  readonly #page: Page;
  readonly #debugger: CDPSession;

  private constructor(number: number, page: Page, session: CDPSession) {
    this.number = number;
    this.#page = page;
    this.#debugger = session;
  }

  static async open(context: BrowserContext, url: string, options: TabOptions): Promise<OpenedTab> {
    const page = await context.newPage();
    await page.goto(url);
    return OpenedTab.#on(page, options);
  }

  static async #on(page: Page, options: TabOptions): Promise<OpenedTab> {
    const tab = new OpenedTab(options.tab, page, await page.context().newCDPSession(page));
    await tab.do("open", options);
    return tab;
  }

  /** Calls a function of the page. Rejects if the tab goes meanwhile. */
  async do<Name extends keyof Tab>(
    name: Name,
    ...args: Parameters<Tab[Name]>
  ): Promise<Awaited<ReturnType<Tab[Name]>>> {
    const given: unknown = await this.#page.evaluate(callTab, { name, args: [...args] as readonly unknown[] });
    // The function of that name returns this as JSON.
    return given as Awaited<ReturnType<Tab[Name]>>;
  }

  /** Makes the tab go at once. If its page reloads, returns the new tab. */
  async go(how: WayToGo, next: TabOptions): Promise<OpenedTab | null> {
    if (how === "reload") {
      await this.#page.reload();
      return OpenedTab.#on(this.#page, next);
    }
    if (how === "crash") {
      const crashed = new Promise((resolve) => void this.#page.once("crash", resolve));
      // A crashed page sends no answer.
      this.#debugger.send("Page.crash").catch(() => undefined);
      await crashed;
    }
    await this.#page.close();
    return null;
  }
}

/** Runs in the page. */
const callTab = ({ name, args }: { readonly name: keyof Tab; readonly args: readonly unknown[] }): unknown => {
  const tab: unknown = Reflect.get(globalThis, "tab");
  // The caller names a function of `Tab`.
  const call = Reflect.get(Object(tab), name) as (...args: readonly unknown[]) => unknown;
  return Reflect.apply(call, tab, args);
};
