// In workerd: reports which of Node's features exist, and whether a module beside this one loads.

/** The configuration names this class. */
export class Conversation {
  fetch(): Response {
    return new Response("");
  }
}

const has = (): Readonly<Record<string, boolean>> => {
  const { process, Buffer } = globalThis as {
    readonly process?: {
      readonly env?: Readonly<Record<string, unknown>>;
      readonly getBuiltinModule?: (name: string) => { readonly AsyncLocalStorage?: unknown };
    };
    readonly Buffer?: unknown;
  };
  return {
    "bindings in process.env": process?.env?.["MODEL_URL"] === "bound",
    AsyncLocalStorage: process?.getBuiltinModule?.("node:async_hooks").AsyncLocalStorage !== undefined,
    Buffer: Buffer !== undefined,
  };
};

const problemOf = async (module: string): Promise<string> => {
  try {
    await import(module);
    return "";
  } catch (error) {
    return String(error);
  }
};

// oxlint-disable-next-line no-default-export -- what a worker is by its platform
export default {
  /** Answers `/` with the features, and `/MODULE` with the reason why the module does not load, or nothing. */
  fetch: async ({ url }: Request): Promise<Response> => {
    const { pathname } = new URL(url);
    return pathname === "/" ? Response.json(has()) : new Response(await problemOf(`.${pathname}`));
  },
};
