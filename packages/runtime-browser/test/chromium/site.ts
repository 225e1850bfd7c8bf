import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bundleForBrowser } from "../../../../proof/kit/browser-bundle.ts";

/** A site whose pages contain only a script. */
export interface Site {
  readonly port: number;
  readonly url: string;
  readonly close: () => void;
}

/**
 * Serves pages that run a script, only on this machine. The path of the script is relative to this folder; its bundle
 * is at `/script.js`.
 */
export const serveSite = async (script: string): Promise<Site> => {
  const code = await bundleForBrowser(new URL(script, import.meta.url), { codeSplitting: false }, [withoutNode]);
  const server = createServer((request, response) => {
    // A sandboxed frame has an opaque origin, so it loads the module only with this header.
    response.setHeader("access-control-allow-origin", "*");
    if (request.url === "/script.js") response.setHeader("content-type", "text/javascript").end(code);
    else response.setHeader("content-type", "text/html").end(page);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // The address of a server that listens on a port is an AddressInfo.
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

/** Hides warnings of unresolved imports: the contracts import Node modules for models, which no page calls. */
const withoutNode = {
  name: "without Node",
  onLog: (_level: string, { code }: { readonly code?: string }) => (code === "UNRESOLVED_IMPORT" ? false : undefined),
};
