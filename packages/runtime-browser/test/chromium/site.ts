import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bundleForBrowser } from "../../../../proof/kit/browser-bundle.ts";

/** A site whose pages are empty but for a script. */
export interface Site {
  readonly port: number;
  readonly url: string;
  readonly close: () => void;
}

/** Serves pages with a script, by its path from here, on this machine alone; the script itself lies at `/script.js`. */
export const serveSite = async (script: string): Promise<Site> => {
  const code = await bundleForBrowser(new URL(script, import.meta.url), { codeSplitting: false }, [withoutNode]);
  const server = createServer((request, response) => {
    // For frames of no origin, too.
    response.setHeader("access-control-allow-origin", "*");
    if (request.url === "/script.js") response.setHeader("content-type", "text/javascript").end(code);
    else response.setHeader("content-type", "text/html").end(page);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const page =
  '<!doctype html><meta charset="utf-8"><title>a tab</title><script type="module" src="/script.js"></script>';

/** Ignores imports of Node modules: the contracts need them for models, and no page calls them. */
const withoutNode = {
  name: "without Node",
  onLog: (_level: string, { code }: { readonly code?: string }) => (code === "UNRESOLVED_IMPORT" ? false : undefined),
};
