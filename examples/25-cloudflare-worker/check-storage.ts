// Checks the store against `storeContract` in workerd, each check with its own object. `pnpm places` runs it.
import { storeChecks, subjectOf } from "@colloquy/runtime-test/contracts";

import { type ObjectStorage, ObjectStore } from "./storage.ts";

interface Environment {
  readonly CONVERSATIONS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

export class Conversation {
  readonly #storage: ObjectStorage & { deleteAll(): Promise<void> };

  constructor({ storage }: { readonly storage: ObjectStorage & { deleteAll(): Promise<void> } }) {
    this.#storage = storage;
  }

  /** Runs the check in the path. Returns its failure, "" or `left out`. With `faulty` the store renews lost leases. */
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const check = storeChecks.find(({ name }) => name === decodeURIComponent(pathname.slice(1)));
    if (check === undefined) return new Response("there is no such check");
    const closers: (() => Promise<void>)[] = [];
    try {
      const subject = await subjectOf(
        async ({ clock }) => {
          await this.#storage.deleteAll();
          const store = new ObjectStore(this.#storage, clock);
          if (searchParams.has("faulty")) Object.assign(store, { renew: async () => true });
          return { store, reopen: async () => new ObjectStore(this.#storage, clock) };
        },
        (close) => closers.push(close),
      );
      if (check.feature !== undefined && !(check.feature in subject.store)) return new Response("left out");
      await check.check(subject);
      return new Response("");
    } catch (error) {
      return new Response(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    } finally {
      for (const close of closers) await close();
    }
  }
}

// oxlint-disable-next-line no-default-export -- the platform requires it
export default {
  fetch: (request: Request, { CONVERSATIONS }: Environment): Promise<Response> =>
    CONVERSATIONS.get(CONVERSATIONS.idFromName(new URL(request.url).pathname)).fetch(request),
};
