import { expect, test } from "vitest";
import { freePort } from "../../proof/servers/process.ts";

// Linux gives ports from 32,768 on to clients, which then hold the port of a server that restarts.
test("a server's port is none that the system gives to others", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(ports.filter((port) => port >= 32_768)).toEqual([]);
});
