import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { responding } from "./responding.ts";

test.each(["system", "user", "assistant"] as const)(
  "an empty input text of the role %s becomes a message without parts",
  async (role) => {
    const llm = scriptedModel([reply("Ada.")]);
    const { client } = responding(llm);
    await client.responses.create({
      model: "any",
      input: [
        { role: "user", content: "Hi" },
        { role, content: "" },
        { role: "user", content: "Who?" },
      ],
    });
    expect(llm.calls[0]?.messages.map(({ parts }) => parts.length)).toEqual([1, 0, 1]);
  },
);
