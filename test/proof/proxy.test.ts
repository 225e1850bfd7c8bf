import { once } from "node:events";
import { connect, createServer } from "node:net";

import { expect, test } from "vitest";

import { proxyTo } from "../../proof/kit/proxy.ts";

test("a way that is cut and mended many times keeps no listener of an earlier time", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  const { port } = echo.address() as { port: number };
  const proxy = await proxyTo(`tcp://127.0.0.1:${port}`);
  const client = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  try {
    for (let times = 0; times < 12; times++) {
      client.write("one");
      await once(client, "data");
      proxy.hold();
      await new Promise<unknown>((resolve) => client.write("two", resolve));
      // The proxy reads the received bytes before the second round.
      for (let rounds = 0; rounds < 2; rounds++) await new Promise((resolve) => setImmediate(resolve));
      const echoed = once(client, "data");
      await proxy.deliver();
      await echoed;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", warned);
    client.destroy();
    await proxy.close();
    echo.close();
  }
});
