import { describe, expect, test } from "vitest";
import { fromModelMessages, toModelMessages } from "../../src/ai-sdk/model-messages.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toModelMessages, read: fromModelMessages });
});

describe("messages", () => {
  test("come with URLs and bytes as programs have them", () => {
    const read = right(
      fromModelMessages([
        {
          role: "user",
          content: [
            { type: "image", image: new URL("https://example.org/a.png") },
            { type: "image", image: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) },
            { type: "image", image: "iVBORw0KGgo=", mediaType: undefined },
            { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: new Uint8Array([1]).buffer },
            { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/b.png") } },
            { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2]) } },
          ],
        },
      ]),
    );
    expect(read.turns).toEqual([
      [
        {
          role: "user",
          content: [
            { type: "image", url: "https://example.org/a.png" },
            { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
            { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
            {
              type: "opaque",
              value: { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQ==" } },
            },
            { type: "image", url: "https://example.org/b.png" },
            { type: "image", url: "data:image/png;base64,AQI=" },
          ],
        },
      ],
    ]);
    expect(read.losses.map(({ path, what }) => `${path}: ${what}`)).toEqual([
      'content.4.mediaType: the media type "image/png"',
    ]);
  });

  test("keep the exact string of arguments, names and metadata for a later import", () => {
    const messages = threadOf({
      system: { role: "developer", content: "Be brief." },
      turns: [
        [
          { role: "user", content: "Hi.", name: "ada", metadata: { a: 1 } },
          {
            role: "assistant",
            toolCalls: [
              { id: "a", name: "f", arguments: '{ "city": "Oslo" }' },
              { id: null, name: "f", arguments: "{oops", provider: { extra_content: { x: 1 } } },
            ],
          },
          { role: "tool", toolCallId: "a", content: "1" },
          { role: "tool", toolCallId: null, content: "2" },
        ],
      ],
      losses: [],
    });
    const { value, losses } = toModelMessages(messages);
    expect(losses).toEqual([]);
    expect(value).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi.", providerOptions: { colloquy: { name: "ada", metadata: { a: 1 } } } },
      { role: "assistant", content: [{ input: { city: "Oslo" } }, { input: "{oops" }] },
      { role: "tool", content: [{ toolCallId: "a" }, { toolCallId: "call_1_1_1" }] },
    ]);
    expect(threadOf(right(fromModelMessages(value)))).toEqual(messages);
  });
});
