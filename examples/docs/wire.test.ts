// Checks model handlers against strict servers. docs/testing.md shows it.
import { openaiChat } from "@colloquy/runtime-node";
import { checkWireLaws } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

test("the handler keeps the laws of the wire", async () => {
  const report = await checkWireLaws(
    [
      { name: "OpenAI", family: "openai-chat", handler: (server) => openaiChat(server) },
      { name: "llama.cpp", family: "llama.cpp", handler: (server) => openaiChat({ ...server, dialect: "llama.cpp" }) },
    ],
    { threads: 20, seed: 1 },
  );

  expect(report.threads).toBe(20);
  expect(report.requests).toBeGreaterThan(20);
});
