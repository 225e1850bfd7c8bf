import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { serve } from "@hono/node-server";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { responding } from "./responding.ts";

// A Python with the package `openai` (`pip install openai`), if there is one.
const python = process.env["COLLOQUY_PYTHON"] ?? "python3";
const isThere = spawnSync(python, ["-c", "import openai"]).status === 0;

test.skipIf(!isThere)(
  "the official client for Python (skipped where no Python has openai: see COLLOQUY_PYTHON)",
  async () => {
    const lookUp = toolCalls([{ name: "look_up", arguments: { id: "7" } }]);
    const { server } = responding(scriptedModel([lookUp, reply("It is Ada."), reply("Ada, still.")]));
    const { promise: listening, resolve } = Promise.withResolvers<number>();
    const sockets = serve({ fetch: (request) => server.fetch(request), hostname: "127.0.0.1", port: 0 }, ({ port }) =>
      resolve(port),
    );
    try {
      const script = join(import.meta.dirname, "python_client.py");
      const { stdout } = await promisify(execFile)(python, [script, `http://127.0.0.1:${await listening}/v1`]);
      expect(JSON.parse(stdout)).toEqual({
        texts: ["It is Ada.", "Ada, still.", "Ada, still."],
        first: "response.created",
        last: "response.completed",
      });
    } finally {
      sockets.close();
    }
  },
);
